import { importQueue, importRequests, type QueuedImport, recordings } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { useChange } from "../api/use-change.ts";
import { formatBytes, formatCount, formatMany } from "../parts/bytes.ts";
import { DeleteDialog } from "../parts/delete-dialog.tsx";
import { Failed } from "../parts/failed.tsx";
import { Menu } from "../parts/menu.tsx";
import { toast } from "../parts/toast.tsx";
import { priorityChoices } from "./priority.ts";

interface GroupMenuProps {
  readonly entries: readonly QueuedImport[];
  readonly name: string;
}

/** Offers actions on all shown imports of one device. */
export function GroupMenu({ entries, name }: GroupMenuProps) {
  const [asksToCancel, setAsks] = useState(false);
  const update = useChange(importRequests.update, importQueue.list);
  const recordingIds = entries.flatMap(({ recordingId }) => recordingId ?? []);
  if (recordingIds.length === 0) return null;
  const choose = async (priority: number) => {
    const answer = await update.run({ recordingIds, priority });
    if (answer) toast(`${formatCount(answer.changed)} changed.`);
  };
  return (
    <>
      <Menu
        label={`All of ${name}`}
        class="small"
        items={[
          ...priorityChoices(0).map((choice) => {
            return { text: `Priority ${choice.name}`, onChoose: () => void choose(choice.priority) };
          }),
          { text: "Cancel all…", isDangerous: true, onChoose: () => setAsks(true) },
        ]}
      />
      {update.failure && <Failed failure={update.failure} />}
      {asksToCancel && <CancelDialog {...{ entries, name, recordingIds, onClose: () => setAsks(false) }} />}
    </>
  );
}

interface CancelProps extends GroupMenuProps {
  readonly recordingIds: readonly string[];
  readonly onClose: () => void;
}

function CancelDialog({ entries, name, recordingIds, onClose }: CancelProps) {
  const bytes = formatBytes(entries.reduce((total, { size = 0 }) => total + size, 0));
  return (
    <DeleteDialog
      operation={importRequests.cancel}
      input={{ recordingIds: [...recordingIds] }}
      stale={[importQueue.list, recordings.list, recordings.summarize]}
      title={`Cancel the imports of ${name}?`}
      deed={`Cancel ${formatMany(recordingIds.length, "import")}`}
      done={({ cancelled }) => `${formatCount(cancelled)} cancelled.`}
      onClose={onClose}
    >
      <p>
        {formatMany(recordingIds.length, "file")}, {bytes}: no longer requested. Files stay on the device and can be
        requested again.
      </p>
    </DeleteDialog>
  );
}
