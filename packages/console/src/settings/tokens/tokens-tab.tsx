import { type DeviceToken, devices, deviceTokens, type Me } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { mayCall, useMe } from "../../api/me.ts";
import { useChange } from "../../api/use-change.ts";
import { useQuery } from "../../api/use-query.ts";
import { useRows } from "../../api/use-rows.ts";
import { Badge } from "../../parts/badge.tsx";
import { Button } from "../../parts/button.tsx";
import { DeleteDialog } from "../../parts/delete-dialog.tsx";
import { ResourceList } from "../../parts/resource-list.tsx";
import { SecretDialog } from "../../parts/secret-dialog.tsx";
import type { Column } from "../../parts/table.tsx";
import { toast } from "../../parts/toast.tsx";
import { tokenColumns } from "../../parts/token-columns.tsx";
import { pagePath } from "../../url/project.ts";
import { actionsColumn, type RowActions } from "../row-actions.tsx";
import { SettingsFrame } from "../settings-frame.tsx";
import { NewToken } from "./new-token.tsx";

type Deed =
  | { readonly is: "make" }
  | { readonly is: "made"; readonly secret: string }
  | { readonly is: "disable" | "delete"; readonly token: DeviceToken }
  | undefined;

/** Lists the tokens of all devices: which agent could still call, and which token is unused. */
export function TokensTab() {
  const { data: me } = useMe();
  const rows = useRows(deviceTokens.list, {}, { isEnabled: mayCall(me, deviceTokens.list) });
  const nameOf = useDeviceNames(me);
  const [deed, setDeed] = useState<Deed>();
  const enable = useChange(deviceTokens.update, deviceTokens.list);
  const onEnable = async (id: string) => (await enable.run({ id, enabled: true })) && toast("The token works again.");
  const itemsOf = (token: DeviceToken): RowActions => {
    const turn = token.enabled
      ? { text: "Disable…", onChoose: () => setDeed({ is: "disable", token }) }
      : { text: "Enable", onChoose: () => void onEnable(token.id) };
    return [
      mayCall(me, deviceTokens.update) && turn,
      mayCall(me, deviceTokens.delete) && {
        text: "Delete…",
        isDangerous: true,
        onChoose: () => setDeed({ is: "delete", token }),
      },
    ];
  };
  const action = mayCall(me, deviceTokens.create) && (
    <Button text="New token for enrolment" class="primary" onClick={() => setDeed({ is: "make" })} />
  );
  return (
    <SettingsFrame segment="tokens" action={action}>
      <p class="muted">
        A device's own tokens are made on its page. One that belongs to no device lets new devices enrol themselves.
      </p>
      <ResourceList
        label="Device tokens"
        rows={rows}
        columns={columnsOf({ nameOf, itemsOf })}
        none="There is no device token."
      />
      {me && <TokenDialogs {...{ me, deed, setDeed, nameOf }} />}
    </SettingsFrame>
  );
}

/** Asks for the names of the devices, where the user may see them. */
function useDeviceNames(me: Me | undefined): (id: string | null) => string {
  const { data } = useQuery(devices.list, {}, { isEnabled: mayCall(me, devices.list) });
  const names = new Map(data?.map(({ id, name }) => [id, name]));
  return (id) => (id === null ? "for enrolment" : (names.get(id) ?? id));
}

interface DialogsProps {
  readonly me: Me;
  readonly deed: Deed;
  readonly setDeed: (deed: Deed) => void;
  readonly nameOf: (id: string | null) => string;
}

function TokenDialogs({ me, deed, setDeed, nameOf }: DialogsProps) {
  const onClose = () => setDeed(undefined);
  if (deed === undefined) return null;
  if (deed.is === "make") return <NewToken {...{ me, onClose }} onMade={(secret) => setDeed({ is: "made", secret })} />;
  if (deed.is === "made")
    return (
      <SecretDialog title="The new device token" secret={deed.secret} onClose={onClose}>
        <p>Each robot that starts its agent with it becomes a device of its own.</p>
      </SecretDialog>
    );
  const { id, deviceId } = deed.token;
  const whose = deviceId === null ? "a token for enrolment" : `a token of ${nameOf(deviceId)}`;
  const isDelete = deed.is === "delete";
  return (
    <DeleteDialog
      operation={isDelete ? deviceTokens.delete : deviceTokens.update}
      input={(isDelete ? { id } : { id, enabled: false }) as { id: string; enabled: boolean }}
      stale={[deviceTokens.list]}
      title={`${isDelete ? "Delete" : "Disable"} ${whose}?`}
      deed={isDelete ? "Delete the token" : "Disable the token"}
      done={isDelete ? "The token is deleted." : "The token is refused from now on."}
      onClose={onClose}
    >
      <p>
        An agent that uses it is refused from then on, and uploads no more until it has another one. Its files stay on
        the robot.
        {isDelete ? " This cannot be undone." : " It can be enabled again."}
      </p>
    </DeleteDialog>
  );
}

interface Of {
  readonly nameOf: (id: string | null) => string;
  readonly itemsOf: (token: DeviceToken) => RowActions;
}

function columnsOf({ nameOf, itemsOf }: Of): readonly Column<DeviceToken>[] {
  return [
    {
      name: "Device",
      width: "minmax(120px, 2fr)",
      narrow: "title",
      cell: ({ deviceId, projectId, enabled }) => (
        <>
          {deviceId === null ? (
            <span class="muted">for enrolment</span>
          ) : (
            <a href={pagePath(projectId, "devices", nameOf(deviceId))}>{nameOf(deviceId)}</a>
          )}{" "}
          {!enabled && <Badge sign="○" tone="warn" text="disabled" />}
        </>
      ),
    },
    ...tokenColumns<DeviceToken>(),
    actionsColumn<DeviceToken>({
      nameOf: ({ deviceId, hint }) => `${nameOf(deviceId)} …${hint ?? ""}`,
      items: itemsOf,
    }),
  ];
}
