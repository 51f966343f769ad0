import { type Device, devices } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { may, useMe } from "../api/me.ts";
import { useChange } from "../api/use-change.ts";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Failed } from "../parts/failed.tsx";
import { toggleIn } from "../parts/selection.ts";
import { toast } from "../parts/toast.tsx";

/** Offers to release a device of which two agents have one state. Only a person can know which one is the copy. */
export function ClonedAgent({ device, projectId }: { device: Device; projectId: string }) {
  const { data: me } = useMe();
  const [isOpen, setOpen] = useState(false);
  return (
    <section class="problem grave" aria-label="Cloned agent">
      <h2>Its agent was cloned, and neither copy is served</h2>
      <p>
        A state directory or a whole card was copied, and both copies run. Each would report the other's files as its
        own.
      </p>
      {may(me, "devices.update") && (
        <div>
          <Button text="Release the agent…" onClick={() => setOpen(true)} />
        </div>
      )}
      {isOpen && <ReleaseDialog {...{ device, projectId, onClose: () => setOpen(false) }} />}
    </section>
  );
}

const CHECKS = [
  "One of the two agents is stopped, and does not start again by itself.",
  "The one that is stopped gets a token and a state directory of its own before it runs again.",
] as const;

interface ReleaseProps {
  readonly device: Device;
  readonly projectId: string;
  readonly onClose: () => void;
}

function ReleaseDialog({ device, projectId, onClose }: ReleaseProps) {
  const [checked, setChecked] = useState<readonly string[]>([]);
  const release = useChange(devices.releaseAgent, devices.get, devices.list);
  const toggle = (text: string) => setChecked(toggleIn(checked, text));
  const run = async () => {
    if (!(await release.run({ nameOrId: device.id, projectId }))) return;
    toast(`The agent of ${device.name} is served again.`);
    onClose();
  };
  return (
    <Dialog title={`Release the agent of ${device.name}?`} onClose={onClose}>
      <p>Check first, on the machines themselves:</p>
      {CHECKS.map((text) => (
        <label key={text} class="row check">
          <input type="checkbox" checked={checked.includes(text)} onChange={() => toggle(text)} />
          {text}
        </label>
      ))}
      {release.failure && <Failed failure={release.failure} />}
      <div class="dialog-actions">
        <Button text="Not yet" onClick={onClose} />
        <Button
          text="Release the agent"
          class="danger"
          disabled={checked.length < CHECKS.length || release.isRunning}
          onClick={() => void run()}
        />
      </div>
    </Dialog>
  );
}
