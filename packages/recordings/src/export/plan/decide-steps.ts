import { ExportFault, type ExportSource } from "./export-options.ts";
import type { OpenSource, PlannedRun, RunSpans } from "./planned-source.ts";
import { popQueued, pushQueued, type Queued } from "./run-queue.ts";

export type Fed = { kind: "opened"; source: OpenSource } | { kind: "run"; run: PlannedRun };

export interface Feeding {
  /** `index`: of the source as it was given. */
  open(source: ExportSource, index: number): Promise<OpenSource>;
  /** Told of the runs that are known to come whenever there are more of them, by source. */
  onPlanned(runs: readonly RunSpans[]): void;
}

/** The runs of all sources by their start. A source is opened when the runs before it were taken. */
export async function* feedRuns(
  sources: readonly [index: number, source: ExportSource][],
  feeding: Feeding,
): AsyncGenerator<Fed> {
  const waiting = sources.toSorted(([, a], [, b]) => compare(a.startNs, b.startNs));
  const open: Feed[] = [];
  let lastNs: bigint | undefined;
  for (let opened = 0; ; ) {
    const due = waiting[opened];
    if (due && (!open[0] || due[1].startNs <= open[0].nextNs)) {
      opened += 1;
      const source = await feeding.open(due[1], due[0]);
      refuseEarlier(source, lastNs);
      yield { kind: "opened", source };
      const next = source.runs.next();
      if (!next) continue;
      pushQueued(open, { source, ...next });
      if (open.length > maxOpen) throw tooManyOpen();
      feeding.onPlanned(open.map(({ source: { runs } }) => runs));
      continue;
    }
    const feed = popQueued(open);
    if (!feed) return;
    const run = feed.source.runs.take(feed.source)!;
    lastNs = run.startNs;
    const next = feed.source.runs.next();
    if (next) pushQueued(open, { source: feed.source, ...next });
    yield { kind: "run", run };
  }
}

interface Feed extends Queued {
  source: OpenSource;
}

/** Each holds its plan in memory and a file open. */
const maxOpen = 256;

function refuseEarlier({ fileName, runs }: OpenSource, lastNs: bigint | undefined): void {
  const first = runs.next()?.nextNs;
  if (first === undefined || lastNs === undefined || first >= lastNs) return;
  const text = `${fileName} holds messages before the span that was told of it (${first} ns); it must be indexed anew`;
  throw new ExportFault("SpanExceeded", text);
}

function tooManyOpen(): ExportFault {
  const text = `more than ${maxOpen} recordings lie at the same time; export fewer of them or a part of the time at once`;
  return new ExportFault("TooMuchOverlap", text);
}

function compare(a: bigint, b: bigint): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** What is to be done, in the order of the written file. Runs of one step stand one behind the other in one source. */
export type Step =
  | { kind: "opened"; source: OpenSource }
  /** Send as they are. */
  | { kind: "pass"; runs: PlannedRun[] }
  /** Overlap with nothing: rewrite. */
  | { kind: "rewrite"; runs: PlannedRun[] }
  /** The same where little of them is wanted. */
  | { kind: "pick"; runs: PlannedRun[] }
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

type GroupStep = Step & { kind: "pass" | "rewrite" | "pick" };
type RunStep = GroupStep | (Step & { kind: "merge" });

function createDecider(mergesAll: boolean) {
  /** The run that ends last of those before. */
  let latest: PlannedRun | undefined;
  return (run: PlannedRun, next: PlannedRun | undefined): RunStep => {
    const isAlone = !(latest && overlaps(latest, run)) && !(next && overlaps(run, next));
    if (!latest || endsAfter(run, latest)) latest = run;
    if (mergesAll || !isAlone) return { kind: "merge", run };
    if (run.mayPass) return { kind: "pass", runs: [run] };
    return { kind: run.mayPick ? "pick" : "rewrite", runs: [run] };
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

/** Small chunks that stand side by side are read at once; those of which little is wanted, also where others stand between. */
function join(group: GroupStep | undefined, step: RunStep): GroupStep | undefined {
  if (!group || step.kind !== group.kind || group.runs.length >= maxGroupRuns) return undefined;
  const [first, last, run] = [group.runs[0]!, group.runs.at(-1)!, step.runs[0]!];
  if (run.source !== last.source) return undefined;
  const isSmall =
    step.kind === "pick" ? sumOf(group, "wantedBytes") + run.wantedBytes <= maxPickedBytes : isNear(group, run);
  if (!isSmall || (step.kind !== "pick" && endOf(run) - first.offset > maxGroupBytes)) return undefined;
  group.runs.push(run);
  return group;
}

function isNear(group: GroupStep, run: PlannedRun): boolean {
  return (
    run.offset === endOf(group.runs.at(-1)!) &&
    sumOf(group, "lengthBytes") + run.lengthBytes <= maxGroupUncompressedBytes
  );
}

function sumOf({ runs }: GroupStep, name: "wantedBytes" | "lengthBytes"): number {
  return runs.reduce((sum, run) => sum + run[name], 0);
}

const maxGroupRuns = 64;
const maxGroupBytes = 2 * 1024 * 1024;
const maxGroupUncompressedBytes = 4 * 1024 * 1024;
const maxPickedBytes = 1024 * 1024;

function endOf({ offset, recordBytes, indexesBytes }: PlannedRun): number {
  return offset + recordBytes + indexesBytes;
}
