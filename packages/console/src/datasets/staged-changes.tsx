import { type DatasetVersion, datasets, datasetVersions } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { may, useMe } from "../api/me.ts";
import { useChange } from "../api/use-change.ts";
import { Button } from "../parts/button.tsx";
import { formatMany } from "../parts/bytes.ts";
import { DeleteDialog } from "../parts/delete-dialog.tsx";
import { Failed } from "../parts/failed.tsx";
import { toast } from "../parts/toast.tsx";
import { hasStagedChanges } from "./versions.ts";

interface StagedProps {
  readonly id: string;
  readonly editable: DatasetVersion | undefined;
  readonly set: (changed: { version: number; compare: number }) => void;
}

/** Shows the staged changes, and what can be done with them. */
export function StagedChanges({ id, editable, set }: StagedProps) {
  const { data: me } = useMe();
  const [isAsking, setAsking] = useState(false);
  const [message, setMessage] = useState("");
  const stale = [datasets.get, datasetVersions.list, datasetVersions.listEpisodes, datasetVersions.compare] as const;
  const commit = useChange(datasetVersions.commit, ...stale);
  if (!editable || !hasStagedChanges(editable)) return null;
  const onCommit = async () => {
    const answer = await commit.run({ id, ...(message.trim() && { message: message.trim() }) });
    if (!answer) return;
    setMessage("");
    toast(`Version ${answer.committed.versionNumber} is committed.`);
    set({ version: 0, compare: 0 });
  };
  return (
    <div class="staged row">
      <span>
        Staged: <span class="added">+{editable.addedEpisodeCount}</span>{" "}
        <span class="removed">−{editable.removedEpisodeCount}</span> episodes
      </span>
      <span class="grow" />
      {may(me, "datasets.update") && (
        <>
          <input
            class="commit-message"
            aria-label="Message of the version"
            placeholder="Message: what is it for?"
            maxLength={1000}
            value={message}
            onInput={({ currentTarget }) => setMessage(currentTarget.value)}
          />
          <Button
            text={`Commit version ${editable.versionNumber}`}
            class="small primary"
            disabled={commit.isRunning}
            onClick={() => void onCommit()}
          />
          <Button text="Discard" class="small danger" onClick={() => setAsking(true)} />
        </>
      )}
      {commit.failure && <Failed failure={commit.failure} />}
      {isAsking && (
        <DeleteDialog
          operation={datasetVersions.discard}
          input={{ id }}
          stale={stale}
          title="Discard staged changes"
          deed="Discard"
          onClose={() => setAsking(false)}
          onDone={() => set({ version: 0, compare: 0 })}
        >
          <p>
            {formatMany(editable.addedEpisodeCount, "addition")} and{" "}
            {formatMany(editable.removedEpisodeCount, "removal")} are discarded. Committed versions stay.
          </p>
        </DeleteDialog>
      )}
    </div>
  );
}
