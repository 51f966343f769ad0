import { type Recording, type RecordingCut, recordingCuts, recordings } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { may, useMe } from "../api/me.ts";
import { useChange } from "../api/use-change.ts";
import { Badge, StatusBadge } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { formatBytes } from "../parts/bytes.ts";
import { describePart, nameTopics } from "../parts/cut-text.ts";
import { Dialog } from "../parts/dialog.tsx";
import { Failed } from "../parts/failed.tsx";
import { showHidden } from "../parts/show-hidden.ts";
import { Time, ZoneName } from "../parts/time.tsx";
import { toast } from "../parts/toast.tsx";
import { formatDuration } from "../time/format-time.ts";
import { timeText } from "../time/zone.ts";
import { pagePath } from "../url/project.ts";
import "./part-list.css";

interface PartListProps {
  readonly recording: Pick<Recording, "id" | "projectId">;
  readonly cuts: readonly RecordingCut[];
}

/** Lists the parts of a recording that were asked for by themselves. One that is not delivered yet can be cancelled. */
export function PartList({ recording, cuts }: PartListProps) {
  const [cancelled, setCancelled] = useState<RecordingCut>();
  return (
    <section class="part-list" aria-label="Parts">
      <h2>Parts</h2>
      <ul>
        {cuts.map((cut) => (
          <PartRow key={cut.id} {...{ cut }} projectId={recording.projectId} onCancel={() => setCancelled(cut)} />
        ))}
      </ul>
      {cancelled && <CancelDialog {...{ recording }} cut={cancelled} onClose={() => setCancelled(undefined)} />}
    </section>
  );
}

interface RowProps {
  readonly projectId: string;
  readonly cut: RecordingCut;
  readonly onCancel: () => void;
}

function PartRow({ projectId, cut, onCancel }: RowProps) {
  const { recordingId, topics, start, end, size, importStatus, failure, waitsFor } = cut;
  const { data: me } = useMe();
  const reason = failure?.text ?? waitsFor;
  return (
    <li class="row">
      {importStatus === "none" ? <Badge sign="▨" tone="edge" text="not here" /> : <StatusBadge status={importStatus} />}
      <span>
        <Time timeNs={start} /> – <Time timeNs={end} /> <ZoneName />
      </span>
      <span>{formatDuration(end - start)}</span>
      <bdi class="part-topics" title={topics.map(showHidden).join("\n")}>
        {nameTopics(topics)}
      </bdi>
      {size !== undefined && <span>{formatBytes(size)}</span>}
      <span class="grow" />
      {recordingId && importStatus !== "none" && (
        <a
          class="button small"
          href={pagePath(projectId, "recordings", recordingId)}
          aria-label={`Open ${nameOf(cut)}`}
        >
          Open
        </a>
      )}
      {importStatus === "pending" && may(me, "data.upload") && (
        <Button text="Cancel…" class="small" aria-label={`Cancel ${nameOf(cut)}`} onClick={onCancel} />
      )}
      {reason && <p class={failure ? "part-failure" : "muted"}>{showHidden(reason)}</p>}
    </li>
  );
}

function nameOf(cut: RecordingCut): string {
  return `the part from ${timeText(cut.start)}, ${describePart(cut)}`;
}

interface CancelProps extends Pick<PartListProps, "recording"> {
  readonly cut: RecordingCut;
  readonly onClose: () => void;
}

function CancelDialog({ recording: { id, projectId }, cut, onClose }: CancelProps) {
  const { get, list, summarize } = recordings;
  const cancel = useChange(recordingCuts.cancel, get, list, summarize, recordingCuts.estimate);
  const run = async () => {
    if (!(await cancel.run({ keyOrId: id, cutId: cut.id, projectId }))) return;
    toast("The part is no longer requested.");
    onClose();
  };
  return (
    <Dialog title="Cancel this part?" onClose={onClose}>
      <p>
        The part from {timeText(cut.start)} ({describePart(cut)}) is no longer requested. The file stays on the device,
        and the part can be requested again.
      </p>
      {cancel.failure && <Failed failure={cancel.failure} />}
      <div class="dialog-actions">
        <Button text="Keep it" onClick={onClose} />
        <Button text="Cancel the part" class="danger" disabled={cancel.isRunning} onClick={() => void run()} />
      </div>
    </Dialog>
  );
}
