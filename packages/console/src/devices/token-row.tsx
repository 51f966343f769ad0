import { type DeviceToken, deviceTokens } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { may, useMe } from "../api/me.ts";
import { useChange } from "../api/use-change.ts";
import { Badge } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { DeleteDialog } from "../parts/delete-dialog.tsx";
import { Failed } from "../parts/failed.tsx";
import { lastUse } from "../parts/last-use.ts";
import { Age } from "../parts/time.tsx";

interface RowProps {
  readonly token: DeviceToken;
  readonly deviceName: string;
}

export function TokenRow({ token, deviceName }: RowProps) {
  const { id, hint, enabled, createdAt, createdBy, lastUsedAt, expiresAt } = token;
  const isOver = expiresAt !== undefined && expiresAt <= BigInt(Date.now()) * 1_000_000n;
  return (
    <li class="row">
      <code>{hint ? `…${hint}` : id}</code>
      {isOver && <Badge tone="warn" sign="⊘" text="expired" />}
      {!isOver &&
        (enabled ? <Badge tone="good" sign="●" text="valid" /> : <Badge tone="edge" sign="⊘" text="disabled" />)}
      <span class="muted">
        made <Age timeNs={createdAt} />
        {createdBy && ` by ${createdBy.name ?? createdBy.id}`} ·{" "}
        {lastUsedAt === undefined ? (
          "never used"
        ) : (
          <>
            last used <Age timeNs={lastUse({ createdAt, lastUsedAt })} />
          </>
        )}
        {expiresAt !== undefined && !isOver && (
          <>
            {" "}
            · expires <Age timeNs={expiresAt} />
          </>
        )}
      </span>
      <span class="grow" />
      <Actions {...{ token, deviceName }} />
    </li>
  );
}

function Actions({ token, deviceName }: RowProps) {
  const { data: me } = useMe();
  const [isOpen, setOpen] = useState(false);
  const update = useChange(deviceTokens.update, deviceTokens.list);
  const toggle = () => void update.run({ id: token.id, enabled: !token.enabled });
  return (
    <>
      {may(me, "deviceTokens.update") && (
        <Button
          text={token.enabled ? "Disable" : "Enable"}
          class="small"
          disabled={update.isRunning}
          onClick={toggle}
        />
      )}
      {may(me, "deviceTokens.delete") && <Button text="Revoke…" class="small danger" onClick={() => setOpen(true)} />}
      {update.failure && <Failed failure={update.failure} />}
      {isOpen && <RevokeDialog {...{ token, deviceName, onClose: () => setOpen(false) }} />}
    </>
  );
}

function RevokeDialog({ token, deviceName, onClose }: RowProps & { onClose: () => void }) {
  return (
    <DeleteDialog
      operation={deviceTokens.delete}
      input={{ id: token.id }}
      stale={[deviceTokens.list]}
      title={`Revoke token ${token.hint ? `…${token.hint}` : token.id}?`}
      deed="Revoke the token"
      done="The token is revoked."
      onClose={onClose}
    >
      <p>
        An agent that uses it is refused from now on: it keeps its files and uploads nothing until it has another token
        of {deviceName}. This cannot be undone.
      </p>
    </DeleteDialog>
  );
}
