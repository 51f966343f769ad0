import { type Device, type ImportStatus, importRequests, type RecordingFilter, recordings } from "@downlink/protocol";
import { useChange } from "../api/use-change.ts";
import { DatasetButton } from "../curate/dataset-button.tsx";
import { ImportFollows } from "../fleet/import-follows.tsx";
import { importItems } from "../fleet/import-items.ts";
import { describeSilent } from "../fleet/silent.ts";
import { Button } from "../parts/button.tsx";
import { formatCount } from "../parts/bytes.ts";
import { Failed } from "../parts/failed.tsx";
import { useShortcuts } from "../parts/keys.ts";
import { type Amount, nameDeed, useLargeDeed } from "../parts/large-deed.tsx";
import { Menu } from "../parts/menu.tsx";
import type { Selection } from "../parts/selection.ts";
import { toast } from "../parts/toast.tsx";
import { pagePath } from "../url/project.ts";

interface BarProps {
  readonly selection: Selection;
  readonly filter: RecordingFilter;
  /** How many the filter matches, as text. */
  readonly matches: string;
  /** How many of the selected recordings could be imported, as far as they are known. */
  readonly wanted: Amount;
  /** The devices that have some of these and do not answer. */
  readonly silent: readonly Device[];
  readonly projectId: string;
  readonly mayImport: boolean;
  readonly onAll: () => void;
  readonly onNone: () => void;
}

/** Offers actions on all selected recordings: one call, however many they are. */
export function SelectionBar(props: BarProps) {
  const { selection, filter, matches, wanted, silent, projectId, mayImport, onAll, onNone } = props;
  const request = useChange(importRequests.create, recordings.list, recordings.summarize);
  const cancel = useChange(importRequests.cancel, recordings.list, recordings.summarize);
  const selected = selection.isAll ? { filter } : { recordingIds: [...selection.ids] };
  const deed = useLargeDeed("Import", wanted, <ImportFollows silent={silent} />);
  const ask = async (priority: number) => {
    const answer = await request.run({ ...selected, priority });
    const queue = { text: "See the queue", href: pagePath(projectId, "imports") };
    if (answer?.queued === 0) toast(describe(answer));
    else if (answer) toast(`${describe(answer)}. ${describeSilent(silent)}`.trim(), queue);
  };
  const run = (priority: number) => deed.begin(() => void ask(priority));
  const stop = async () => {
    const answer = await cancel.run(selected);
    if (answer) toast(`${formatCount(answer.cancelled)} cancelled, ${formatCount(answer.already)} were not requested.`);
  };
  useShortcuts(mayImport ? [{ keys: "i", does: "Import the selected recordings", run: () => run(0) }] : []);
  const failure = request.failure ?? cancel.failure;
  return (
    <div class="selection-bar row">
      <strong>{selection.isAll ? `All ${matches}` : `${selection.ids.size} selected`}</strong>
      {!selection.isAll && <Button text={`Select all ${matches} that match`} class="small" onClick={onAll} />}
      <Button text="Select none" class="small plain" onClick={onNone} />
      <span class="grow" />
      <DatasetButton
        {...{
          projectId,
          source: { kind: "recordings", ...(selection.isAll ? { filter } : { ids: [...selection.ids] }) },
        }}
        class="small"
      />
      {mayImport && (
        <Menu
          label={labelOf(request.isRunning, wanted)}
          class="small primary"
          items={[...importItems(run), { text: "Cancel requested imports", onChoose: () => void stop() }]}
        />
      )}
      {deed.question}
      {failure && <Failed failure={failure} />}
    </div>
  );
}

function labelOf(isRunning: boolean, wanted: Amount): string {
  if (isRunning) return "Asking…";
  return wanted.count > 0 ? nameDeed("Import", wanted) : "Import";
}

/** Whether the data of a recording is not here, and is not on its way. */
export function isWanted(status: ImportStatus): boolean {
  return status === "none" || status === "failed";
}

interface Sums extends Amount {
  readonly importStatus: ImportStatus;
}

/** Adds up the recordings that could be imported. */
export function wantedOf(sums: readonly Sums[]): Amount {
  const wanted = sums.filter(({ importStatus }) => isWanted(importStatus));
  return {
    count: wanted.reduce((sum, { count }) => sum + count, 0),
    bytes: wanted.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

interface Answer {
  readonly queued: number;
  readonly already: number;
  readonly refused: readonly { readonly reason: string; readonly count: number }[];
}

const REASONS: Readonly<Record<string, string>> = {
  NotFound: "are not there",
  EdgeCopyGone: "have no copy on a device any more",
  NotWaiting: "are not waiting",
};

function describe({ queued, already, refused }: Answer): string {
  const others = refused.map(({ reason, count }) => `${formatCount(count)} ${REASONS[reason] ?? reason}`);
  return [
    `${formatCount(queued)} requested`,
    ...(already > 0 ? [`${formatCount(already)} were already`] : []),
    ...others,
  ].join(", ");
}
