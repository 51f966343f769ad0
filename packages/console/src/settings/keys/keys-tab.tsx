import { type ApiKey, apiKeys, EVERY_CAPABILITY, type Me } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { mayCall, useMe } from "../../api/me.ts";
import { useChange } from "../../api/use-change.ts";
import { useRows } from "../../api/use-rows.ts";
import { lazyPart } from "../../frame/lazy-part.ts";
import { Badge } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { DeleteDialog } from "../../parts/delete-dialog.tsx";
import { ForeignText } from "../../parts/foreign-text.tsx";
import { ResourceList } from "../../parts/resource-list.tsx";
import { SecretDialog } from "../../parts/secret-dialog.tsx";
import type { Column } from "../../parts/table.tsx";
import { toast } from "../../parts/toast.tsx";
import { tokenColumns } from "../../parts/token-columns.tsx";
import { actionsColumn, type RowActions } from "../row-actions.tsx";
import { SettingsFrame } from "../settings-frame.tsx";
import "./keys.css";

/** The dialogs are loaded when they are opened. */
const EditKey = lazyPart(() => import("./edit-key.tsx").then((part) => part.EditKey));
const NewKey = lazyPart(() => import("./new-key.tsx").then((part) => part.NewKey));

type Deed = { readonly is: "make" } | { readonly is: "made"; readonly secret: string } | OfKey | undefined;
interface OfKey {
  readonly is: "edit" | "disable" | "delete";
  readonly apiKey: ApiKey;
}

export function KeysTab() {
  const { data: me } = useMe();
  const rows = useRows(apiKeys.list, {}, { isEnabled: mayCall(me, apiKeys.list) });
  const [deed, setDeed] = useState<Deed>();
  const enable = useChange(apiKeys.update, apiKeys.list);
  const onEnable = async ({ id, name }: ApiKey) =>
    (await enable.run({ id, enabled: true })) && toast(`${name} works again.`);
  const action = mayCall(me, apiKeys.create) && (
    <Button text="New key" class="primary" onClick={() => setDeed({ is: "make" })} />
  );
  return (
    <SettingsFrame segment="keys" action={action}>
      <ResourceList
        label="API keys"
        rows={rows}
        columns={columnsOf((apiKey) => itemsOf(apiKey, { me, setDeed, onEnable }))}
        none="There is no API key."
      />
      {me && <KeyDialogs {...{ me, deed, setDeed }} />}
    </SettingsFrame>
  );
}

interface DialogsProps {
  readonly me: Me;
  readonly deed: Deed;
  readonly setDeed: (deed: Deed) => void;
}

function KeyDialogs({ me, deed, setDeed }: DialogsProps) {
  const onClose = () => setDeed(undefined);
  if (deed?.is === "make") return <NewKey {...{ me, onClose }} onMade={(secret) => setDeed({ is: "made", secret })} />;
  if (deed?.is === "made")
    return (
      <SecretDialog title="The new key" secret={deed.secret} onClose={onClose}>
        <p>Give it to the program that needs it, as a secret. It is sent as a bearer token.</p>
      </SecretDialog>
    );
  if (deed?.is === "edit") return <EditKey {...{ me, apiKey: deed.apiKey, onClose }} />;
  if (deed?.is === "disable") return <DisableKey {...{ apiKey: deed.apiKey, onClose }} />;
  if (deed?.is === "delete") return <DeleteKey {...{ apiKey: deed.apiKey, onClose }} />;
  return null;
}

interface OneKey {
  readonly apiKey: ApiKey;
  readonly onClose: () => void;
}

function DisableKey({ apiKey: { id, name }, onClose }: OneKey) {
  return (
    <DeleteDialog
      operation={apiKeys.update}
      input={{ id, enabled: false }}
      stale={[apiKeys.list]}
      title={`Disable ${name}?`}
      deed="Disable the key"
      done={`${name} is refused from now on.`}
      onClose={onClose}
    >
      <p>
        Programs that use it are refused at once, and browsers that were signed in with it are signed out. It can be
        enabled again.
      </p>
    </DeleteDialog>
  );
}

function DeleteKey({ apiKey: { id, name, hint }, onClose }: OneKey) {
  return (
    <DeleteDialog
      operation={apiKeys.delete}
      input={{ id }}
      stale={[apiKeys.list]}
      title={`Delete ${name}?`}
      deed="Delete the key"
      done={`${name} is deleted.`}
      onClose={onClose}
    >
      <p>
        Any program that uses this key{hint ? `, which ends with ${hint},` : ""} is refused at once. This cannot be
        undone. What was done with it stays, also in the audit log.
      </p>
    </DeleteDialog>
  );
}

interface ItemsOf {
  readonly me: Me | undefined;
  readonly setDeed: (deed: Deed) => void;
  readonly onEnable: (apiKey: ApiKey) => unknown;
}

function itemsOf(apiKey: ApiKey, { me, setDeed, onEnable }: ItemsOf): RowActions {
  const mayChange = mayCall(me, apiKeys.update);
  const turn = apiKey.enabled
    ? { text: "Disable…", onChoose: () => setDeed({ is: "disable", apiKey }) }
    : { text: "Enable", onChoose: () => void onEnable(apiKey) };
  return [
    mayChange && { text: "Change…", onChoose: () => setDeed({ is: "edit", apiKey }) },
    mayChange && turn,
    mayCall(me, apiKeys.delete) && {
      text: "Delete…",
      isDangerous: true,
      onChoose: () => setDeed({ is: "delete", apiKey }),
    },
  ];
}

function columnsOf(items: (apiKey: ApiKey) => RowActions): readonly Column<ApiKey>[] {
  return [
    {
      name: "Name",
      width: "minmax(120px, 2fr)",
      narrow: "title",
      cell: ({ name, enabled, createdByFormerAdmin }) => (
        <>
          <ForeignText text={name} /> {!enabled && <Badge sign="○" tone="warn" text="disabled" />}{" "}
          {createdByFormerAdmin && <Badge sign="▲" tone="warn" text="made by a former admin" />}
        </>
      ),
    },
    { name: "May do", width: "minmax(90px, 1fr)", cell: ({ capabilities }) => describe(capabilities) },
    {
      name: "Projects",
      width: "70px",
      spare: 2,
      cell: ({ projectIds }) => (projectIds.length === 0 ? "all" : String(projectIds.length)),
    },
    ...tokenColumns<ApiKey>(),
    actionsColumn<ApiKey>({ nameOf: ({ name }) => name, items }),
  ];
}

function describe(capabilities: readonly string[]) {
  if (capabilities.includes(EVERY_CAPABILITY)) return "everything";
  return (
    <span title={capabilities.join(", ")}>
      {capabilities.length === 1 ? capabilities[0] : `${capabilities.length} things`}
    </span>
  );
}
