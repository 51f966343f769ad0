import { DELIVERY_DAYS, type Webhook, type WebhookDelivery, webhooks } from "@downlink/protocol";
import { useChange } from "../../api/use-change.ts";
import { useQuery } from "../../api/use-query.ts";
import { Badge, type Tone } from "../../parts/badge.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Failed } from "../../parts/failed.tsx";
import { ProgressLine } from "../../parts/progress-line.tsx";
import { type Column, Table } from "../../parts/table.tsx";
import { Age } from "../../parts/time.tsx";
import { toast } from "../../parts/toast.tsx";
import { actionsColumn } from "../row-actions.tsx";

const SHOWN = 200;
const MOVING_MS = 3000;
const RESTING_MS = 30_000;

const STATES: Readonly<Record<WebhookDelivery["state"], { text: string; sign: string; tone: Tone }>> = {
  waiting: { text: "waiting", sign: "◔", tone: "moving" },
  delivered: { text: "delivered", sign: "■", tone: "good" },
  failed: { text: "failed", sign: "▲", tone: "failed" },
};

export function DeliveryList({ webhook: { id, enabled }, mayChange }: { webhook: Webhook; mayChange: boolean }) {
  const input = { id, limit: SHOWN };
  const first = useQuery(webhooks.listDeliveries, input);
  const isMoving = first.data?.some(({ state }) => state === "waiting") ?? false;
  const { data, failure, isLoading, again } = useQuery(webhooks.listDeliveries, input, {
    pollMs: isMoving ? MOVING_MS : RESTING_MS,
  });
  const retry = useChange(webhooks.retryDelivery, webhooks.listDeliveries);
  const onRetry = async (deliveryId: string) => (await retry.run({ id, deliveryId })) && toast("It is sent again.");
  const items = ({ id: deliveryId }: WebhookDelivery) => [
    mayChange && enabled && { text: "Send again now", onChoose: () => void onRetry(deliveryId) },
  ];
  return (
    <>
      <ProgressLine isOn={isLoading} />
      {failure && <Failed {...{ failure, again }} />}
      {retry.failure && <Failed failure={retry.failure} />}
      {data?.length === 0 && <Empty title={`Nothing was sent within ${DELIVERY_DAYS} days.`} />}
      {data && data.length > 0 && (
        <Table
          label="Deliveries"
          columns={[
            ...COLUMNS,
            actionsColumn<WebhookDelivery>({ nameOf: ({ type, id: of }) => `${type} ${of}`, items }),
          ]}
          count={data.length}
          rowAt={(index) => data[index]}
        />
      )}
      {data?.length === SHOWN && <p class="muted">These are the latest {SHOWN}.</p>}
    </>
  );
}

const COLUMNS: readonly Column<WebhookDelivery>[] = [
  { name: "Event", width: "minmax(120px, 1fr)", narrow: "title", cell: ({ type }) => type },
  { name: "Happened", width: "120px", narrow: "sub", cell: ({ timestamp }) => <Age timeNs={timestamp} /> },
  { name: "State", width: "110px", narrow: "sub-end", cell: ({ state }) => <Badge {...STATES[state]} /> },
  { name: "Attempts", width: "76px", isNumber: true, cell: ({ attempts }) => attempts },
  {
    name: "Last answer",
    width: "minmax(140px, 2fr)",
    cell: ({ statusCode, error }) => (
      <span title={error}>{[statusCode, error].filter(Boolean).join(" · ") || "—"}</span>
    ),
  },
  {
    name: "Next",
    width: "110px",
    cell: ({ nextAttemptAt }) => (nextAttemptAt === undefined ? "—" : <Age timeNs={nextAttemptAt} />),
  },
];
