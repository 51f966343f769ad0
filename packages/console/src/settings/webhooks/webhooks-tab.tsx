import { type Webhook, webhooks } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { mayCall, useMe } from "../../api/me.ts";
import { useRows } from "../../api/use-rows.ts";
import { Button } from "../../parts/button.tsx";
import { ForeignText } from "../../parts/foreign-text.tsx";
import { ResourceList } from "../../parts/resource-list.tsx";
import { SecretDialog } from "../../parts/secret-dialog.tsx";
import { showHidden } from "../../parts/show-hidden.ts";
import type { Column } from "../../parts/table.tsx";
import { SettingsFrame } from "../settings-frame.tsx";
import { WebhookForm } from "./webhook-form.tsx";
import { WebhookState } from "./webhook-state.tsx";

type Deed = { readonly is: "make" } | { readonly is: "made"; readonly secret: string; readonly id: string } | undefined;

export function WebhooksTab() {
  const { data: me } = useMe();
  const { route } = useLocation();
  const isEnabled = mayCall(me, webhooks.list);
  const rows = useRows(webhooks.list, {}, { isEnabled });
  const [deed, setDeed] = useState<Deed>();
  const action = mayCall(me, webhooks.create) && (
    <Button text="New webhook" class="primary" onClick={() => setDeed({ is: "make" })} />
  );
  return (
    <SettingsFrame segment="webhooks" action={action}>
      <ResourceList
        label="Webhooks"
        rows={rows}
        columns={COLUMNS}
        onOpen={({ id }) => route(`/settings/webhooks/${encodeURIComponent(id)}`)}
        none="There is no webhook."
      >
        <p>A webhook is an address of yours that is notified of events: a recording arrived, a device went offline.</p>
      </ResourceList>
      {deed?.is === "make" && me && (
        <WebhookForm
          me={me}
          onClose={() => setDeed(undefined)}
          onMade={({ id, secret }) => setDeed({ is: "made", id, secret })}
        />
      )}
      {deed?.is === "made" && (
        <SecretDialog
          title="The secret of the webhook"
          secret={deed.secret}
          onClose={() => {
            setDeed(undefined);
            route(`/settings/webhooks/${encodeURIComponent(deed.id)}`);
          }}
        >
          <p>
            Every delivery is signed with it, after Standard Webhooks. Give it to the receiver, which checks the
            signature.
          </p>
        </SecretDialog>
      )}
    </SettingsFrame>
  );
}

const COLUMNS: readonly Column<Webhook>[] = [
  {
    name: "Name",
    width: "minmax(120px, 1fr)",
    narrow: "title",
    cell: ({ id, name }) => (
      <a href={`/settings/webhooks/${encodeURIComponent(id)}`}>
        <ForeignText text={name} />
      </a>
    ),
  },
  {
    name: "Address",
    width: "minmax(180px, 2fr)",
    narrow: "sub",
    cell: ({ url }) => (
      <span title={showHidden(url)}>
        <ForeignText text={url} />
      </span>
    ),
  },
  {
    name: "Receives",
    width: "minmax(110px, 1fr)",
    cell: ({ eventTypes }) => (
      <span title={eventTypes.join(", ")}>
        {eventTypes.length === 1 ? eventTypes[0] : `${eventTypes.length} kinds`}
      </span>
    ),
  },
  { name: "State", width: "120px", narrow: "end", cell: (webhook) => <WebhookState webhook={webhook} /> },
];
