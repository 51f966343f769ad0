import { type Device, type DeviceToken, deviceTokens } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { may, useMe } from "../api/me.ts";
import { useChange } from "../api/use-change.ts";
import { useQuery } from "../api/use-query.ts";
import { Badge } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { Empty } from "../parts/empty.tsx";
import { Failed } from "../parts/failed.tsx";
import { ProgressLine } from "../parts/progress-line.tsx";
import { TokenDialog } from "./token-once.tsx";
import { TokenRow } from "./token-row.tsx";

export function TokensTab({ device }: { device: Device }) {
  const { data: me } = useMe();
  const { data, failure, again, isLoading } = useQuery(deviceTokens.list, { deviceId: device.id });
  const create = useChange(deviceTokens.create, deviceTokens.list);
  const [made, setMade] = useState<DeviceToken | undefined>();
  const run = async () => setMade(await create.run({ deviceId: device.id }));
  return (
    <div class="stack">
      <ProgressLine isOn={isLoading} />
      <div class="row">
        <p class="muted">An agent with one of these tokens acts as {device.name}.</p>
        <span class="grow" />
        {may(me, "deviceTokens.create") && (
          <Button text="Make a token" disabled={create.isRunning} onClick={() => void run()} />
        )}
      </div>
      {failure && <Failed failure={failure} again={again} />}
      {create.failure && <Failed failure={create.failure} />}
      {data?.length === 0 && <Empty title="No token of this device." />}
      {data !== undefined && data.length > 0 && (
        <ul class="card device-files">
          {data.map((token) => (
            <TokenRow key={token.id} {...{ token, deviceName: device.name }} />
          ))}
        </ul>
      )}
      {made && (
        <TokenDialog
          title="A new token"
          token={made}
          head={<Badge tone="good" sign="●" text={`Token …${made.hint ?? ""} is made.`} />}
          onClose={() => setMade(undefined)}
        />
      )}
    </div>
  );
}
