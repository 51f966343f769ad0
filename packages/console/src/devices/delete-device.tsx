import { type Device, devices, recordings } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { useChange } from "../api/use-change.ts";
import { useQuery } from "../api/use-query.ts";
import { Button } from "../parts/button.tsx";
import { formatBytes, formatCount } from "../parts/bytes.ts";
import { Confirm } from "../parts/confirm.tsx";
import { toast } from "../parts/toast.tsx";
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
      {isOpen && <DeleteDialog {...{ device, projectId, onClose: () => setOpen(false) }} />}
    </section>
  );
}

function DeleteDialog({ device, projectId, onClose }: DeleteProps & { onClose: () => void }) {
  const { route } = useLocation();
  const { data } = useQuery(recordings.summarize, { projectId, deviceId: device.id });
  const remove = useChange(devices.delete, devices.list);
  const run = async () => {
    if (!(await remove.run({ nameOrId: device.id, projectId }))) return;
    toast(`${device.name} is deleted.`);
    route(pagePath(projectId, "devices"), true);
  };
  return (
    <Confirm
      title={`Delete ${device.name}?`}
      deed="Delete the device"
      typedName={device.name}
      failure={remove.failure}
      onConfirm={() => void run()}
      onClose={onClose}
    >
      <p>
        The device is deleted for good, with its tokens and its settings. Its agent is refused from then on.
        {data !== undefined &&
          data.count > 0 &&
          ` It still has ${formatCount(data.count)} recordings, ${formatBytes(data.bytes)}, and cannot be deleted while it has them.`}
      </p>
    </Confirm>
  );
}
