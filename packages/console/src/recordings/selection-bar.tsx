import { importRequests, type RecordingFilter, recordings } from "@downlink/protocol";
import { useChange } from "../api/use-change.ts";
import { Button } from "../parts/button.tsx";
import { formatCount } from "../parts/bytes.ts";
import { Failed } from "../parts/failed.tsx";
import { useShortcuts } from "../parts/keys.ts";
import { Menu, type MenuItem } from "../parts/menu.tsx";
import type { Selection } from "../parts/selection.ts";
import { toast } from "../parts/toast.tsx";

const PRIORITIES = [
  { name: "Import, normal priority", priority: 0 },
  { name: "Import first", priority: 100 },
  { name: "Import last", priority: -100 },
] as const;

/** Returns the ways to import, for a menu. */
export function importItems(run: (priority: number) => void): readonly MenuItem[] {
  return PRIORITIES.map(({ name, priority }) => ({ text: name, onChoose: () => run(priority) }));
}

interface BarProps {
  readonly selection: Selection;
  readonly filter: RecordingFilter;
  /** How many the filter matches, as text. */
  readonly matches: string;
  readonly mayImport: boolean;
  readonly onAll: () => void;
  readonly onNone: () => void;
}

/** Offers actions on all selected recordings: one call, however many they are. */
export function SelectionBar({ selection, filter, matches, mayImport, onAll, onNone }: BarProps) {
  const request = useChange(importRequests.create, recordings.list, recordings.summarize);
  const cancel = useChange(importRequests.cancel, recordings.list, recordings.summarize);
  const selected = selection.isAll ? { filter } : { recordingIds: [...selection.ids] };
  const run = async (priority: number) => {
    const answer = await request.run({ ...selected, priority });
    if (answer) toast(describe(answer));
  };
  const stop = async () => {
    const answer = await cancel.run(selected);
    if (answer) toast(`${formatCount(answer.cancelled)} cancelled, ${formatCount(answer.already)} were not requested.`);
  };
  useShortcuts(mayImport ? [{ keys: "i", does: "Import the selected recordings", run: () => void run(0) }] : []);
  const failure = request.failure ?? cancel.failure;
  return (
    <div class="selection-bar row">
      <strong>{selection.isAll ? `All ${matches}` : `${selection.ids.size} selected`}</strong>
      {!selection.isAll && <Button text={`Select all ${matches} that match`} class="small" onClick={onAll} />}
      <Button text="Select none" class="small plain" onClick={onNone} />
      <span class="grow" />
      {mayImport && (
        <Menu
          label={request.isRunning ? "Asking…" : "Import"}
          class="small primary"
          items={[
            ...importItems((priority) => void run(priority)),
            { text: "Cancel requested imports", onChoose: () => void stop() },
          ]}
        />
      )}
      {failure && <Failed failure={failure} />}
    </div>
  );
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
