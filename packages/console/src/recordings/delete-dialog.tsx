import { type Recording, recordings } from "@downlink/protocol";
import { useLocation } from "preact-iso";
import { useChange } from "../api/use-change.ts";
import { Button } from "../parts/button.tsx";
import { formatBytes, formatCount } from "../parts/bytes.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Failed } from "../parts/failed.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { toast } from "../parts/toast.tsx";
import { pagePath } from "../url/project.ts";

interface DeleteProps {
  readonly recording: Recording;
  readonly onClose: () => void;
}

/** Says what will be lost, and deletes it on confirmation. */
export function DeleteDialog({ recording, onClose }: DeleteProps) {
  const { id: keyOrId, path, size, messageCount, projectId, device } = recording;
  const { route } = useLocation();
  const change = useChange(recordings.delete, recordings.list, recordings.summarize, recordings.get);
  const isInDataset = change.failure?.code === "InDataset";
  const run = async () => {
    if (!(await change.run({ keyOrId, force: isInDataset }))) return;
    toast(`The imported data of ${path} was deleted.`);
    route(pagePath(projectId, "recordings"));
  };
  return (
    <Dialog title="Delete imported data" onClose={onClose}>
      <div class="stack">
        <p>
          The imported data of{" "}
          <strong>
            <ForeignText text={path} />
          </strong>{" "}
          is deleted here for good: {formatBytes(size)}, {formatCount(messageCount)} messages.
        </p>
        <p class="muted">
          {device
            ? `If ${device.name} still has the file, the recording stays and can be imported again. Otherwise nothing of it remains.`
            : "No device has it: nothing of it remains."}
        </p>
        {change.failure && <Failed failure={change.failure} />}
        <div class="row">
          <Button
            text={isInDataset ? "Delete it anyway" : `Delete ${formatBytes(size)}`}
            class="danger"
            disabled={change.isRunning}
            onClick={() => void run()}
          />
          <Button text="Keep it" onClick={onClose} />
        </div>
      </div>
    </Dialog>
  );
}
