import { type Device, devices, recordings } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { useQuery } from "../api/use-query.ts";
import { Button } from "../parts/button.tsx";
import { formatBytes, formatMany } from "../parts/bytes.ts";
import { DeleteDialog } from "../parts/delete-dialog.tsx";
import { pagePath } from "../url/project.ts";

interface DeleteProps {
  readonly device: Device;
  readonly projectId: string;
}

export function DeleteDevice({ device, projectId }: DeleteProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <section class="card stack" aria-label="Delete the device">
      <h2>Delete the device</h2>
      <p class="muted">Only a device without recordings, files, sessions and events can be deleted.</p>
      <div>
        <Button text={`Delete ${device.name}…`} class="danger" onClick={() => setOpen(true)} />
      </div>
      {isOpen && <Asked {...{ device, projectId, onClose: () => setOpen(false) }} />}
    </section>
  );
}

function Asked({ device, projectId, onClose }: DeleteProps & { onClose: () => void }) {
  const { route } = useLocation();
  const { data } = useQuery(recordings.summarize, { projectId, deviceId: device.id });
  return (
    <DeleteDialog
      operation={devices.delete}
      input={{ nameOrId: device.id, projectId }}
      stale={[devices.list]}
      title={`Delete ${device.name}?`}
      deed="Delete the device"
      done={`${device.name} is deleted.`}
      typedName={device.name}
      onClose={onClose}
      onDone={() => route(pagePath(projectId, "devices"), true)}
    >
      <p>
        The device is deleted for good, with its tokens and its settings. Its agent is refused from then on.
        {data !== undefined &&
          data.count > 0 &&
          ` It still has ${formatMany(data.count, "recording")}, ${formatBytes(data.bytes)}, and cannot be deleted while it has them.`}
      </p>
    </DeleteDialog>
  );
}
