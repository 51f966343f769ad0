import { type DatasetVersion, datasets, datasetVersions } from "@downlink/protocol";
import { useState } from "preact/hooks";
import { may, useMe } from "../api/me.ts";
import { Button } from "../parts/button.tsx";
import { formatMany } from "../parts/bytes.ts";
import { DeleteDialog } from "../parts/delete-dialog.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { Time, ZoneName } from "../parts/time.tsx";
import { pagePath, useProjectId } from "../url/project.ts";
import { editableOf, hasStagedChanges, nameCompared, nameVersion } from "./versions.ts";

interface BarProps {
  readonly id: string;
  readonly versions: readonly DatasetVersion[];
  readonly shown: DatasetVersion;
  /** The base of the comparison; 0 for none. */
  readonly compare: number;
  readonly set: (changed: { version?: number; compare?: number }) => void;
}

/** Shows which version is shown and with which it is compared, leads to its training data, and restores an older one. */
export function VersionBar({ id, versions, shown, compare, set }: BarProps) {
  const { data: me } = useMe();
  const projectId = useProjectId()!;
  const canRestore = may(me, "datasets.update") && shown.committedAt !== undefined && versions.length > 1;
  return (
    <div class="row">
      <label class="row">
        Show
        <select
          value={shown.versionNumber}
          onChange={({ currentTarget }) => set({ version: Number(currentTarget.value) })}
        >
          {versions.map((version) => (
            <option key={version.versionNumber} value={version.versionNumber}>
              {nameVersion(version)}
            </option>
          ))}
        </select>
      </label>
      <label class="row">
        compared with
        <select
          value={compare}
          onChange={({ currentTarget }) => set({ version: shown.versionNumber, compare: Number(currentTarget.value) })}
        >
          <option value={0}>none</option>
          {versions
            .filter(({ versionNumber }) => versionNumber !== shown.versionNumber)
            .map((version) => (
              <option key={version.versionNumber} value={version.versionNumber}>
                {nameCompared(version)}
              </option>
            ))}
        </select>
      </label>
      <About version={shown} />
      <span class="grow" />
      {shown.committedAt !== undefined && (
        <a
          class="button small"
          href={`${pagePath(projectId, "datasets", id, "training")}?version=${shown.versionNumber}`}
        >
          Training data
        </a>
      )}
      {canRestore && <Restore {...{ id, version: shown, editable: editableOf(versions), set }} />}
    </div>
  );
}

/** Says when a version was committed, by which kind of caller, and why. */
function About({ version: { committedAt, committedByOrgMemberId, message } }: { version: DatasetVersion }) {
  const { data: me } = useMe();
  if (committedAt === undefined) return null;
  const kind = committedByOrgMemberId === undefined ? "an API key" : "a member";
  return (
    <p class="muted">
      <Time timeNs={committedAt} /> <ZoneName />, by {me && committedByOrgMemberId === me.id ? "you" : kind}
      {message && (
        <>
          {": "}
          <ForeignText text={message} />
        </>
      )}
    </p>
  );
}

interface RestoreProps extends Pick<BarProps, "id" | "set"> {
  readonly version: DatasetVersion;
  readonly editable: DatasetVersion | undefined;
}

/** Stages the changes that restore a version. It says first that changes that are staged already would be lost. */
function Restore({ id, version: { versionNumber }, editable, set }: RestoreProps) {
  const [isAsking, setAsking] = useState(false);
  const isStaged = hasStagedChanges(editable);
  return (
    <>
      <Button text={`Restore version ${versionNumber}`} class="small" onClick={() => setAsking(true)} />
      {isAsking && (
        <DeleteDialog
          operation={datasetVersions.restore}
          input={{ id, versionNumber, force: isStaged }}
          stale={[datasets.get, datasetVersions.list, datasetVersions.listEpisodes]}
          title={`Restore version ${versionNumber}`}
          deed={isStaged ? "Overwrite staged changes" : "Stage it"}
          done={({ added, removed }) => `Staged: +${added} −${removed}. Commit makes it a version.`}
          onClose={() => setAsking(false)}
          onDone={() => set({ version: editable?.versionNumber ?? 0, compare: 0 })}
        >
          <p>The changes that bring back version {versionNumber} are staged. Nothing is committed yet.</p>
          {isStaged && editable && (
            <p>
              <strong>
                You have {formatMany(editable.addedEpisodeCount + editable.removedEpisodeCount, "staged change")}, which
                would be lost.
              </strong>
            </p>
          )}
        </DeleteDialog>
      )}
    </>
  );
}
