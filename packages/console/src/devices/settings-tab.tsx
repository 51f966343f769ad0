import { type AgentSettings, agentSettings, type Device } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { may, useMe } from "../api/me.ts";
import { useQuery } from "../api/use-query.ts";
import { Failed } from "../parts/failed.tsx";
import { useLeaveGuard } from "../parts/leave-guard.tsx";
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
  const [isAgentChanged, setAgentChanged] = useState(false);
  const [isDeviceChanged, setDeviceChanged] = useState(false);
  const question = useLeaveGuard(isAgentChanged || isDeviceChanged);
  return (
    <div class="stack device-settings">
      {question}
      {!mayChange && <p class="muted">You may view these settings, but not change them.</p>}
      <AgentSettingsCard {...{ device, projectId, mayChange }} onChanged={setAgentChanged} />
      <DeviceForm {...{ device, projectId, mayChange }} onChanged={setDeviceChanged} />
      {may(me, "devices.delete") && <DeleteDevice {...{ device, projectId }} />}
    </div>
  );
}

interface CardProps extends TabProps {
  readonly mayChange: boolean;
  /** Called when something in it begins or ceases to differ from what is saved. */
  readonly onChanged: (isChanged: boolean) => void;
}

/** Edits the agent's settings. The form begins with the saved ones, and keeps what is typed while others change them. */
function AgentSettingsCard({ device, projectId, mayChange, onChanged }: CardProps) {
  const input = { nameOrId: device.id, projectId };
  const { data, failure, again } = useQuery(agentSettings.get, input);
  if (failure) return <Failed failure={failure} again={again} />;
  if (!data) return <ProgressLine isOn />;
  return <AgentSettingsForm {...{ device, projectId, mayChange, onChanged, stored: data satisfies AgentSettings }} />;
}
