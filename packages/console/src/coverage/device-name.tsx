import type { Device } from "@downlink/protocol";
import { toMs } from "../time/format-time.ts";
import { timeText } from "../time/zone.ts";
import { TILE_ROWS } from "../timeline/tiles.ts";
import type { Span } from "../timeline/view.ts";
import { pagePath } from "../url/project.ts";
import { formatShare } from "./sum-up.ts";
import { useSums } from "./use-sums.ts";

interface NameProps {
  readonly projectId: string;
  readonly devices: readonly Device[];
  readonly row: number;
  readonly settled: Span;
}

/** Shows the start of a row: whether the device is there, its name, and how much of the time it has data. */
export function DeviceName({ projectId, devices, row, settled }: NameProps) {
  const first = Math.floor(row / TILE_ROWS) * TILE_ROWS;
  const ids = devices.slice(first, first + TILE_ROWS).map(({ id }) => id);
  const { of, isOld } = useSums({ projectId, ids, span: settled });
  const device = devices[row];
  if (!device) return null;
  const sums = of(device.id);
  const seconds = (toMs(settled.endNs) - toMs(settled.startNs)) / 1000;
  const failed = sums?.failed.recordings ?? 0;
  return (
    <>
      <a
        class="device-name cut"
        href={pagePath(projectId, "devices", device.name)}
        title={titleOf(device)}
        tabIndex={-1}
      >
        <span class={device.agent?.online ? "dot on" : "dot"} aria-hidden="true" />
        {device.name}
        <span class="unseen">, {device.agent?.online ? "online" : "offline"}</span>
      </a>
      {failed > 0 && (
        <span class="row-failed" title={`${failed} failed in this time`}>
          <span aria-hidden="true">▲</span>
          <span class="unseen">{failed} failed</span>
        </span>
      )}
      {sums && <span class={isOld ? "row-share old" : "row-share"}>{formatShare(sums.coveredSeconds, seconds)}</span>}
    </>
  );
}

function titleOf({ name, agent }: Device): string {
  if (!agent) return `${name}: no agent has ever connected`;
  return agent.online ? `${name}: online` : `${name}: silent since ${timeText(agent.lastSeenAt)}`;
}
