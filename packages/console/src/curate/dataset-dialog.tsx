import { datasets, datasetVersions, episodes, recordings } from "@downlink/protocol";
import { useEffect, useRef, useState } from "preact/hooks";
import { client } from "../api/client.ts";
import { explainFailure, type Failure } from "../api/failure.ts";
import { may, useMe } from "../api/me.ts";
import { invalidate, noteFailure } from "../api/queries.ts";
import { useQuery } from "../api/use-query.ts";
import { formatBytes, formatCount, formatMany } from "../parts/bytes.ts";
import { Failed } from "../parts/failed.tsx";
import { FormDialog } from "../parts/form-dialog.tsx";
import { namedChoices, SelectField } from "../parts/select.tsx";
import { TextField } from "../parts/text-field.tsx";
import { toast } from "../parts/toast.tsx";
import { formatDuration } from "../time/format-time.ts";
import { pagePath } from "../url/project.ts";
import type { EpisodeSource } from "./episode-source.ts";
import { type Filled, fillDataset } from "./fill-dataset.ts";

interface DialogProps {
  readonly projectId: string;
  readonly source: EpisodeSource;
  readonly onClose: () => void;
}

interface Form {
  /** The id of a dataset; empty for a new one. */
  readonly datasetId: string;
  readonly name: string;
  readonly commits: boolean;
  readonly message: string;
}

const MOST_DATASETS = 200;

/** Makes a dataset of rows that a filter found or a user chose, or adds them to one, and commits it as a version. */
export function DatasetDialog({ projectId, source, onClose }: DialogProps) {
  const { data: me } = useMe();
  const [form, setForm] = useState<Form>({ datasetId: "", name: "", commits: true, message: "" });
  const change = (changed: Partial<Form>) => setForm({ ...form, ...changed });
  const known = useQuery(datasets.list, { projectId, sortBy: "name", limit: MOST_DATASETS });
  const filling = useFilling({ projectId, source, onClose });
  const isNew = form.datasetId === "";
  const submit = () =>
    filling.run({
      dataset: isNew ? { name: form.name.trim() } : { id: form.datasetId },
      onMade: (datasetId) => change({ datasetId }),
      commit: form.commits ? form.message.trim() : undefined,
    });
  return (
    <FormDialog
      title="Make a dataset, or add to one"
      deed={isNew ? "Make the dataset" : "Add to the dataset"}
      isRunning={filling.done !== undefined}
      failure={filling.failure}
      isDisabled={isNew && (form.name.trim() === "" || !may(me, "datasets.create"))}
      onSubmit={() => void submit()}
      onClose={onClose}
    >
      <Amount {...{ source }} />
      {known.failure && <Failed failure={known.failure} again={known.again} />}
      <SelectField
        label="Dataset"
        value={form.datasetId}
        choices={[["", "A new dataset"], ...namedChoices(known.data ?? [])]}
        onChange={(datasetId) => change({ datasetId })}
      />
      {isNew && <TextField label="Name" value={form.name} onChange={(name) => change({ name })} autoComplete="off" />}
      <label class="choice">
        <input type="checkbox" checked={form.commits} onChange={() => change({ commits: !form.commits })} />
        Commit it as a version, which never changes
      </label>
      {form.commits && (
        <TextField label="Message" value={form.message} onChange={(message) => change({ message })} maxLength={1000} />
      )}
      {filling.done !== undefined && <p role="status">{formatCount(filling.done)} episodes so far …</p>}
    </FormDialog>
  );
}

/** Says of what episodes are made, and how much that is. */
function Amount({ source }: { source: EpisodeSource }) {
  const filter = source.kind === "recordings" && "filter" in source ? source.filter : undefined;
  const { data } = useQuery(recordings.summarize, filter ?? {}, { isEnabled: filter !== undefined });
  if ("ids" in source) return <p>An episode of each of {formatMany(source.ids.length, kindName(source.kind))}.</p>;
  if (source.kind === "events")
    return <p>An episode of each event that the filters match and that has an imported recording.</p>;
  if (!data) return <p class="muted">…</p>;
  const here = data.byStatus.find(({ importStatus }) => importStatus === "complete");
  const others = data.count - (here?.count ?? 0);
  const than = data.isCapped ? "at least " : "";
  return (
    <p>
      An episode of each of {than}
      {formatMany(here?.count ?? 0, "imported recording")}
      {here && `: ${formatDuration(BigInt(Math.round(here.seconds)) * 1_000_000_000n)}, ${formatBytes(here.bytes)}`}.
      {others > 0 && ` ${formatCount(others)} that are not imported are left out.`}
    </p>
  );
}

function kindName(kind: EpisodeSource["kind"]): string {
  return kind === "events" ? "event" : "recording";
}

interface Target {
  /** The dataset by its id, or the name of one to make. */
  readonly dataset: { readonly id: string } | { readonly name: string };
  readonly commit: string | undefined;
  /** A failure after this does not make a second dataset of the name. */
  readonly onMade: (datasetId: string) => void;
}

interface Work {
  readonly run: (target: Target) => Promise<void>;
  /** How many episodes have been asked for; undefined while nothing runs. */
  readonly done: number | undefined;
  readonly failure: Failure | undefined;
}

/** Fills the dataset while the dialog is open: closing it ends the work between two pages, and what was staged stays. */
function useFilling({ projectId, source, onClose }: DialogProps): Work {
  const [done, setDone] = useState<number | undefined>();
  const [failure, setFailure] = useState<Failure | undefined>();
  const closed = useRef(new AbortController());
  useEffect(() => () => closed.current.abort(), []);
  const run: Work["run"] = async ({ dataset, commit, onMade }) => {
    setFailure(undefined);
    setDone(0);
    const { signal } = closed.current;
    try {
      const datasetId = "id" in dataset ? dataset.id : await makeDataset({ projectId, name: dataset.name, onMade });
      const filled = await fillDataset({ projectId, source, datasetId, commit }, { signal, onDone: setDone });
      toast(describe(filled), { text: "See the dataset", href: pagePath(projectId, "datasets", datasetId) });
      onClose();
    } catch (error) {
      if (signal.aborted) return;
      noteFailure(error);
      setFailure(explainFailure(error));
    } finally {
      setDone(undefined);
      invalidate(datasets.list, datasets.get, datasetVersions.list, episodes.list);
    }
  };
  return { run, done, failure };
}

interface New extends Pick<Target, "onMade"> {
  readonly projectId: string;
  readonly name: string;
}

async function makeDataset({ projectId, name, onMade }: New): Promise<string> {
  const { id } = await client.call(datasets.create, { projectId, name });
  onMade(id);
  return id;
}

function describe({ added, alreadyPresent, leftOut, versionNumber }: Filled): string {
  return [
    `${formatMany(added, "episode")} added`,
    ...(alreadyPresent > 0 ? [`${formatCount(alreadyPresent)} were there already`] : []),
    ...(leftOut > 0 ? [`${formatMany(leftOut, "event")} without an imported recording left out`] : []),
    ...(versionNumber === undefined ? [] : [`version ${versionNumber} committed`]),
  ].join(", ");
}
