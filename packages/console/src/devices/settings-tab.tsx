import { type AgentSettings, agentSettings, type Device } from "@downlink/protocol";
import { may, useMe } from "../api/me.ts";
import { useQuery } from "../api/use-query.ts";
import { Failed } from "../parts/failed.tsx";
import { ProgressLine } from "../parts/progress-line.tsx";
import { AgentSettingsForm } from "./agent-settings-form.tsx";
import { DeleteDevice } from "./delete-device.tsx";
import { DeviceForm } from "./device-form.tsx";

interface TabProps {
  readonly device: Device;
  readonly projectId: string;
}

export function SettingsTab({ device, projectId }: TabProps) {
  const { data: me } = useMe();
  const mayChange = may(me, "devices.update");
  return (
    <div class="stack device-settings">
      {!mayChange && <p class="muted">You may view these settings, but not change them.</p>}
      <AgentSettingsCard {...{ device, projectId, mayChange }} />
      <DeviceForm {...{ device, projectId, mayChange }} />
      {may(me, "devices.delete") && <DeleteDevice {...{ device, projectId }} />}
    </div>
  );
}

/** Edits the agent's settings. The form begins with the saved ones, and keeps what is typed while others change them. */
function AgentSettingsCard({ device, projectId, mayChange }: TabProps & { mayChange: boolean }) {
  const input = { nameOrId: device.id, projectId };
  const { data, failure, again } = useQuery(agentSettings.get, input);
  if (failure) return <Failed failure={failure} again={again} />;
  if (!data) return <ProgressLine isOn />;
  return <AgentSettingsForm {...{ device, projectId, mayChange, stored: data satisfies AgentSettings }} />;
}
