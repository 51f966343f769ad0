import { type Dataset, type DatasetMapping, datasetMappings, type TrainingSet, trainingSets } from "@downlink/protocol";
import { useEffect, useState } from "preact/hooks";
import { may, useMe } from "../api/me.ts";
import { invalidate } from "../api/queries.ts";
import { usePages } from "../api/use-pages.ts";
import { useQuery } from "../api/use-query.ts";
import { Badge } from "../parts/badge.tsx";
import { Button } from "../parts/button.tsx";
import { formatBytes, formatMany } from "../parts/bytes.ts";
import { CommandText } from "../parts/command-text.tsx";
import { Copy } from "../parts/copy.tsx";
import { DeleteDialog } from "../parts/delete-dialog.tsx";
import { Empty } from "../parts/empty.tsx";
import { ForeignText } from "../parts/foreign-text.tsx";
import { MoreRows } from "../parts/more-rows.tsx";
import { showHidden } from "../parts/show-hidden.ts";
import { Age } from "../parts/time.tsx";
import { SetFiles } from "./set-files.tsx";
import { pullCommand } from "./training-texts.ts";

const PAGE = 20;
const POLL_MS = 2000;

interface ListProps {
  readonly dataset: Dataset;
  readonly mappings: readonly DatasetMapping[];
}

/** Lists the training sets of a dataset, the newest first. */
export function SetList({ dataset, mappings }: ListProps) {
  const query = { datasetId: dataset.id, sortOrder: "desc" as const, limit: PAGE };
  const pages = usePages(trainingSets.list, query, { rowsOf: (output) => output.trainingSets });
  return (
    <section class="stack" aria-labelledby="sets-title">
      <h2 id="sets-title">Sets of this dataset</h2>
      {pages.rows.length > 0 && (
        <ul class="card sets">
          {pages.rows.map((set) => (
            <SetRow key={set.id} {...{ set, dataset, mapping: mappings.find(({ id }) => id === set.mappingId) }} />
          ))}
        </ul>
      )}
      {pages.rows.length === 0 && !pages.isNew && <Empty title="No training set was built yet." />}
      <MoreRows pages={pages} />
    </section>
  );
}

interface RowProps {
  readonly set: TrainingSet;
  readonly dataset: Dataset;
  /** Undefined if it is not among those that were read. */
  readonly mapping: DatasetMapping | undefined;
}

/** Shows one set. While it is being built, it is asked for again and again. */
function SetRow({ set: listed, dataset, mapping }: RowProps) {
  const set = useBuilding(listed);
  const { id, state, versionNumber, createdAt, expiresAt } = set;
  return (
    <li class="stack">
      <div class="row">
        <State set={set} />
        <span>
          version {versionNumber}, mapping <MappingName {...{ set, mapping }} />,{" "}
          {set.format === "parquet" ? "Parquet tables" : "LeRobot"}
        </span>
        <span class="muted">
          <Size set={set} />
          made <Age timeNs={createdAt} />
          {state === "ready" && (
            <>
              , expires <Age timeNs={expiresAt} />
            </>
          )}
        </span>
        <span class="grow" />
        <Deeds set={set} />
      </div>
      {state === "building" && <Progress set={set} />}
      {state === "failed" && set.failure && <p>{showHidden(set.failure)}</p>}
      {state === "ready" && (
        <div class="set-command row">
          <CommandText text={pullCommand(id, dataset.name, versionNumber)} />
          <Copy text={pullCommand(id, dataset.name, versionNumber)} label="Copy" />
        </div>
      )}
    </li>
  );
}

/** Follows a set until it is built; the list is then asked for again. */
function useBuilding(listed: TrainingSet): TrainingSet {
  const isListedSo = listed.state === "building";
  const options = { isEnabled: isListedSo, pollMs: POLL_MS };
  const { data } = useQuery(trainingSets.get, { id: listed.id }, options);
  const set = (isListedSo ? data : undefined) ?? listed;
  const isDone = isListedSo && set.state !== "building";
  useEffect(() => {
    if (isDone) invalidate(trainingSets.list);
  }, [isDone]);
  return set;
}

const STATES = {
  building: { text: "building", sign: "◕", tone: "moving" },
  ready: { text: "ready", sign: "■", tone: "good" },
  failed: { text: "failed", sign: "▲", tone: "failed" },
  expired: { text: "expired", sign: "□", tone: "plain" },
} as const;

function State({ set: { state } }: { set: TrainingSet }) {
  return (
    <strong class="set-state">
      <Badge {...STATES[state]} />
    </strong>
  );
}

function MappingName({ set: { datasetId, mappingId }, mapping }: Pick<RowProps, "set" | "mapping">) {
  const input = { id: datasetId, mappingId };
  const { data } = useQuery(datasetMappings.get, input, { isEnabled: mapping === undefined });
  const { name, revision } = mapping ?? data ?? {};
  if (name === undefined) return <>…</>;
  return (
    <>
      <ForeignText text={name} />, revision {revision}
    </>
  );
}

function Size({ set: { state, totalBytes = 0, fileCount = 0 } }: { set: TrainingSet }) {
  if (state !== "ready") return null;
  return (
    <>
      {formatBytes(totalBytes)} in {formatMany(fileCount, "file")},{" "}
    </>
  );
}

function Progress({ set: { progress } }: { set: TrainingSet }) {
  const { episodesDone, episodeCount, bytes } = progress;
  return (
    <p class="row">
      <progress aria-label="Progress of the set" value={episodesDone} max={Math.max(1, episodeCount)} />
      {episodesDone} of {formatMany(episodeCount, "episode")}, {formatBytes(bytes)}
    </p>
  );
}

function Deeds({ set: { id, state, versionNumber } }: { set: TrainingSet }) {
  const { data: me } = useMe();
  const [open, setOpen] = useState<"files" | "delete" | undefined>();
  const close = () => setOpen(undefined);
  return (
    <>
      {state === "ready" && may(me, "data.stream") && (
        <Button text="Files…" class="small" onClick={() => setOpen("files")} />
      )}
      {may(me, "datasets.delete") && <Button text="Delete" class="small danger" onClick={() => setOpen("delete")} />}
      {open === "files" && <SetFiles id={id} onClose={close} />}
      {open === "delete" && (
        <DeleteDialog
          operation={trainingSets.delete}
          input={{ id }}
          stale={[trainingSets.list]}
          title={`Delete a training set of version ${versionNumber}`}
          deed="Delete the set"
          done="The training set was deleted."
          onClose={close}
        >
          <p>
            {state === "building" ? "Its building is given up. " : "Its files are deleted. "}
            The version and the mapping stay, and the same set can be built again.
          </p>
        </DeleteDialog>
      )}
    </>
  );
}
