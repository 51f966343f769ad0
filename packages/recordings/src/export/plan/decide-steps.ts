import type { Fed } from "./feed-runs.ts";
import type { OpenSource, PlannedRun } from "./open-source.ts";

/** What is to be done, in the order of the written file. Runs of one step stand one behind the other in one source. */
export type Step =
  | { kind: "opened"; source: OpenSource }
  /** Send as they are. */
  | { kind: "pass"; runs: PlannedRun[] }
  /** Overlap with nothing: rewrite. */
  | { kind: "rewrite"; runs: PlannedRun[] }
  /** Overlaps in time with the one before or behind it. */
  | { kind: "merge"; run: PlannedRun };

/** Decides for each run by what was before it and the run behind it. `mergesAll`: each as if it overlapped. */
export async function* decideSteps(
  feed: AsyncIterable<Fed>,
  { mergesAll = false }: { mergesAll?: boolean } = {},
): AsyncGenerator<Step> {
  const decide = createDecider(mergesAll);
  let group: GroupStep | undefined;
  let held: PlannedRun | undefined;
  for await (const fed of feed) {
    if (fed.kind === "opened") {
      yield fed;
      continue;
    }
    if (held) {
      const step = decide(held, fed.run);
      const joined = join(group, step);
      if (group && !joined) yield group;
      group = joined ?? (step.kind === "merge" ? undefined : step);
      if (step.kind === "merge") yield step;
    }
    held = fed.run;
  }
  const last = held && decide(held, undefined);
  const joined = last && join(group, last);
  if (group && !joined) yield group;
  if (last) yield joined ?? last;
}

type GroupStep = Step & { kind: "pass" | "rewrite" };
type RunStep = GroupStep | (Step & { kind: "merge" });

function createDecider(mergesAll: boolean) {
  /** The run that ends last of those before. */
  let latest: PlannedRun | undefined;
  return (run: PlannedRun, next: PlannedRun | undefined): RunStep => {
    const isAlone = !(latest && overlaps(latest, run)) && !(next && overlaps(run, next));
    if (!latest || endsAfter(run, latest)) latest = run;
    if (mergesAll || !isAlone) return { kind: "merge", run };
    return { kind: run.mayPass ? "pass" : "rewrite", runs: [run] };
  };
}

/** Whether the earlier one may hold a message that belongs behind one of the later. Equal times go by `order`. */
function overlaps(earlier: PlannedRun, later: PlannedRun): boolean {
  if (earlier.endNs === later.startNs) return earlier.order > later.order;
  return earlier.endNs > later.startNs;
}

function endsAfter(a: PlannedRun, b: PlannedRun): boolean {
  return a.endNs === b.endNs ? a.order > b.order : a.endNs > b.endNs;
}

/** Small chunks that stand side by side are read at once. */
function join(group: GroupStep | undefined, step: RunStep): GroupStep | undefined {
  if (!group || step.kind !== group.kind || group.runs.length >= maxGroupRuns) return undefined;
  const first = group.runs[0]!;
  const last = group.runs.at(-1)!;
  const run = step.runs[0]!;
  if (!last.indexed || !run.indexed || run.source !== last.source || run.offset !== endOf(last)) return undefined;
  const uncompressedBytes = group.runs.reduce((sum, { lengthBytes }) => sum + lengthBytes, run.lengthBytes);
  if (endOf(run) - first.offset > maxGroupBytes || uncompressedBytes > maxGroupUncompressedBytes) return undefined;
  group.runs.push(run);
  return group;
}

const maxGroupRuns = 256;
const maxGroupBytes = 1024 * 1024;
const maxGroupUncompressedBytes = 4 * 1024 * 1024;

function endOf({ offset, indexed }: PlannedRun): number {
  return offset + (indexed ? indexed.chunkBytes + indexed.indexesBytes : 0);
}
