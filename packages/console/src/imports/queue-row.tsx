import { importQueue, importRequests, type QueuedImport, recordings } from "@downlink/protocol";
import { useChange } from "../api/use-change.ts";
import { Button } from "../parts/button.tsx";
import { formatBytes } from "../parts/bytes.ts";
import { Failed } from "../parts/failed.tsx";
import { Select } from "../parts/select.tsx";
import { showHidden } from "../parts/show-hidden.ts";
import { Age } from "../parts/time.tsx";
import { toast } from "../parts/toast.tsx";
import { shareReceived } from "./group-queue.ts";
import { ImportPath } from "./import-cells.tsx";
import { priorityChoices } from "./priority.ts";
import { WaitsFor } from "./waits-for.tsx";

interface RowProps {
  readonly entry: QueuedImport;
  readonly projectId: string;
  readonly mayChange: boolean;
  /** Whether the row says why it waits, because the group does not. */
  readonly saysWhy: boolean;
}

export function QueueRow({ entry, projectId, mayChange, saysWhy }: RowProps) {
  const { recordingId, path, size, requestedAt, requestedBy, isRepair, waitsFor } = entry;
  return (
    <li>
      <ImportPath {...{ path, recordingId, projectId }} />
      <Received entry={entry} />
      <span class="number">{size === undefined ? "—" : formatBytes(size)}</span>
      <span class="muted cut">
        {requesterText(requestedBy, isRepair)} <Age timeNs={requestedAt} />
      </span>
      {mayChange && recordingId !== undefined && <Actions {...{ entry, recordingId }} />}
      {saysWhy && waitsFor && (
        <div class="import-why">
          <WaitsFor reason={waitsFor} />
        </div>
      )}
    </li>
  );
}

/** Names the requester of an import, as far as known. A repair replaces data that was damaged in the store. */
function requesterText(requester: QueuedImport["requestedBy"], isRepair = false): string {
  if (!requester) return isRepair ? "repair" : "requested";
  const { kind, name, id } = requester;
  if (kind === "autoImport") return "auto-import";
  if (kind === "device") return "on the device";
  if (kind === "site") return "at the site";
  return `by ${showHidden(name ?? id)}`;
}

function Received({ entry }: { entry: QueuedImport }) {
  const share = shareReceived(entry);
  if (entry.state === "waiting" && !entry.bytesReceived)
    return <span class="muted">{entry.position === undefined ? "waits" : `place ${entry.position}`}</span>;
  const percent = share === undefined ? undefined : Math.floor(share * 100);
  return (
    <span class="row import-received">
      <progress value={share ?? undefined} max={1} aria-label={`Received so far: ${showHidden(entry.path)}`} />
      <span class="number">{percent === undefined ? formatBytes(entry.bytesReceived) : `${percent} %`}</span>
      {entry.bytesPerSecond !== undefined && entry.state === "uploading" && (
        <span class="muted">{formatBytes(entry.bytesPerSecond)}/s</span>
      )}
    </span>
  );
}

function Actions({ entry, recordingId }: { entry: QueuedImport; recordingId: string }) {
  const update = useChange(importRequests.update, importQueue.list);
  const cancel = useChange(importRequests.cancel, importQueue.list, recordings.list, recordings.summarize);
  const choose = async (priority: number) => {
    const answer = await update.run({ recordingIds: [recordingId], priority });
    if (answer) toast(answer.changed > 0 ? `${entry.path}: priority changed.` : `${entry.path}: no longer waiting.`);
  };
  const stop = async () => {
    const answer = await cancel.run({ recordingIds: [recordingId] });
    if (answer)
      toast(answer.cancelled > 0 ? `${entry.path}: cancelled.` : `${entry.path}: its upload had begun already.`);
  };
  const failure = update.failure ?? cancel.failure;
  return (
    <>
      <span class="row import-actions">
        <Select
          aria-label={`Priority of ${showHidden(entry.path)}`}
          value={String(entry.priority)}
          disabled={update.isRunning}
          choices={priorityChoices(entry.priority).map(({ priority, name }) => [String(priority), name])}
          onChange={(priority) => void choose(Number(priority))}
        />
        <Button
          text="Cancel"
          class="small"
          aria-label={`Cancel ${showHidden(entry.path)}`}
          disabled={cancel.isRunning}
          onClick={() => void stop()}
        />
      </span>
      {failure && <Failed failure={failure} />}
    </>
  );
}
