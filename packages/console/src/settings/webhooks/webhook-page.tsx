import { type Me, type Webhook, webhooks } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import { mayCall, useMe } from "../../api/me.ts";
import { useChange } from "../../api/use-change.ts";
import { useQuery } from "../../api/use-query.ts";
import { Button } from "../../parts/button.tsx";
import { DeleteDialog } from "../../parts/delete-dialog.tsx";
import { Facts } from "../../parts/facts.tsx";
import { Failed } from "../../parts/failed.tsx";
import { ForeignText } from "../../parts/foreign-text.tsx";
import { Age } from "../../parts/time.tsx";
import { toast } from "../../parts/toast.tsx";
import { SettingsFrame } from "../settings-frame.tsx";
import { DeliveryList } from "./delivery-list.tsx";
import { WebhookForm } from "./webhook-form.tsx";
import { WebhookState } from "./webhook-state.tsx";

/** Shows one webhook: what it receives, what is wrong with it, and its deliveries. */
export function WebhookPage() {
  const id = useRoute().params.id!;
  const { data: me } = useMe();
  const isEnabled = mayCall(me, webhooks.list);
  const { data: webhook, failure, again } = useQuery(webhooks.get, { id }, { isEnabled });
  const mayChange = mayCall(me, webhooks.update);
  return (
    <SettingsFrame segment="webhooks" action={<a href="/settings/webhooks">All webhooks</a>}>
      {failure && <Failed {...{ failure, again }} />}
      {webhook && me && (
        <>
          <header class="row">
            <h2>
              <ForeignText text={webhook.name} />
            </h2>
            <WebhookState webhook={webhook} />
            <span class="grow" />
            <Actions {...{ webhook, me, mayChange }} />
          </header>
          <State webhook={webhook} />
          <section class="section" aria-label="Deliveries">
            <h2>Deliveries</h2>
            <DeliveryList {...{ webhook, mayChange }} />
          </section>
        </>
      )}
    </SettingsFrame>
  );
}

function State({ webhook }: { webhook: Webhook }) {
  const { url, eventTypes, projectId, failingSince, disabledReason, createdAt } = webhook;
  return (
    <>
      {disabledReason && (
        <div class="failure" role="status">
          <p>
            <strong>The service disabled it.</strong> {disabledReason} Events in the meantime are never sent. Enable it
            once the receiver works again.
          </p>
        </div>
      )}
      {failingSince !== undefined && (
        <div class="failure" role="status">
          <p>
            <strong>Every attempt has failed</strong> since <Age timeNs={failingSince} />. After five days it is
            disabled.
          </p>
        </div>
      )}
      <Facts
        facts={[
          ["Address", url],
          ["Receives", eventTypes.join(", ")],
          ["Project", projectId ?? "every project"],
          ["Made", <Age timeNs={createdAt} />],
        ]}
      />
    </>
  );
}

interface ActionsProps {
  readonly webhook: Webhook;
  readonly me: Me;
  readonly mayChange: boolean;
}

function Actions({ webhook, me, mayChange }: ActionsProps) {
  const { id, name, enabled } = webhook;
  const { route } = useLocation();
  const [deed, setDeed] = useState<"edit" | "delete" | undefined>();
  const ping = useChange(webhooks.ping, webhooks.listDeliveries, webhooks.get);
  const turn = useChange(webhooks.update, webhooks.get, webhooks.list, webhooks.listDeliveries);
  const failure = ping.failure ?? turn.failure;
  const onPing = async () => (await ping.run({ id })) && toast("A ping is on its way.");
  return (
    <>
      {mayChange && (
        <>
          {enabled && (
            <Button text="Send a ping" class="primary" disabled={ping.isRunning} onClick={() => void onPing()} />
          )}
          <Button
            text={enabled ? "Disable" : "Enable"}
            disabled={turn.isRunning}
            onClick={() => void turn.run({ id, enabled: !enabled })}
          />
          <Button text="Change…" onClick={() => setDeed("edit")} />
        </>
      )}
      {mayCall(me, webhooks.delete) && <Button text="Delete…" class="danger" onClick={() => setDeed("delete")} />}
      {failure && <Failed failure={failure} />}
      {deed === "edit" && <WebhookForm {...{ me, webhook, onClose: () => setDeed(undefined) }} />}
      {deed === "delete" && (
        <DeleteDialog
          operation={webhooks.delete}
          input={{ id }}
          stale={[webhooks.list]}
          title={`Delete ${name}?`}
          deed="Delete the webhook"
          done={`${name} is deleted.`}
          onClose={() => setDeed(undefined)}
          onDone={() => route("/settings/webhooks")}
        >
          <p>
            The list of its deliveries is deleted with it. Waiting deliveries are not sent any more. This cannot be
            undone.
          </p>
        </DeleteDialog>
      )}
    </>
  );
}
