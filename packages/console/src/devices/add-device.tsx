import { type Device, type DeviceToken, devices, deviceTokens } from "@downlink/protocol";
import { deviceNamePattern } from "@downlink/protocol/device-name";
import { useState } from "preact/hooks";
import { useChange } from "../api/use-change.ts";
import { useQuery } from "../api/use-query.ts";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Failed } from "../parts/failed.tsx";
import { TextField } from "../parts/text-field.tsx";
import { pagePath } from "../url/project.ts";
import { TokenDialog } from "./token-once.tsx";

interface Added {
  readonly device: Device;
  readonly token: DeviceToken;
}

/** Adds a device in three steps: a name, a token with the commands for the robot, and the first contact. */
export function AddDevice({ projectId, onClose }: { projectId: string; onClose: () => void }) {
  const [added, setAdded] = useState<Added | undefined>();
  if (added) return <Connect {...{ added, projectId, onClose }} />;
  return (
    <Dialog title="Add a device" isWide onClose={onClose}>
      <NameForm {...{ projectId, onClose, onAdded: setAdded }} />
    </Dialog>
  );
}

interface NameProps {
  readonly projectId: string;
  readonly onClose: () => void;
  readonly onAdded: (added: Added) => void;
}

function NameForm({ projectId, onClose, onAdded }: NameProps) {
  const [name, setName] = useState("");
  const [made, setMade] = useState<Device | undefined>();
  const create = useChange(devices.create, devices.list);
  const createToken = useChange(deviceTokens.create, deviceTokens.list);
  const isWrong = name !== "" && !deviceNamePattern.test(name);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const device = made ?? (await create.run({ name, projectId }));
    if (!device) return;
    setMade(device); // a second try makes only the token
    const token = await createToken.run({ deviceId: device.id });
    if (token) onAdded({ device, token });
  };
  const failure = create.failure ?? createToken.failure;
  return (
    <form class="stack" onSubmit={(event) => void submit(event)}>
      <TextField
        label="1. Name of the device"
        hint="The name that people use, such as rover-7. It can be changed later."
        problem={isWrong ? "A name has letters, digits and the characters _ . - only." : undefined}
        value={name}
        onChange={setName}
        required
        maxLength={100}
        autoComplete="off"
        disabled={made !== undefined}
      />
      {failure && <Failed failure={failure} />}
      <div class="dialog-actions">
        <Button text="Cancel" onClick={onClose} />
        <button type="submit" class="primary" disabled={isWrong || create.isRunning || createToken.isRunning}>
          Make its token
        </button>
      </div>
    </form>
  );
}

const POLL_MS = 2000;

interface ConnectProps {
  readonly added: Added;
  readonly projectId: string;
  readonly onClose: () => void;
}

function Connect({ added: { device, token }, projectId, onClose }: ConnectProps) {
  const { data } = useQuery(devices.get, { nameOrId: device.id, projectId }, { pollMs: POLL_MS });
  const agent = data?.agent;
  return (
    <TokenDialog
      title="Add a device"
      {...{ token, onClose }}
      isUsed={agent !== undefined && agent !== null}
      head={<h3>2. Bring the token to {device.name}</h3>}
    >
      <h3>3. First contact</h3>
      <p role="status" class={agent ? "hello here" : "hello"}>
        {agent ? (
          <>
            ● {device.name} is here: agent {agent.version}
            {agent.hostname && ` on ${agent.hostname}`}.{" "}
            <a href={pagePath(projectId, "devices", device.name)}>Look at {device.name}</a>
          </>
        ) : (
          `◌ Waiting for the agent of ${device.name}…`
        )}
      </p>
    </TokenDialog>
  );
}
