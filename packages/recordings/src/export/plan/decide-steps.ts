import { MAX_TIME_NS } from "../../reading/field-cursor.ts";
import { ExportError, type ExportSource } from "./export-options.ts";
import type { OpenSource, PlannedRun, RunSpans } from "./planned-source.ts";
import { popQueued, pushQueued, type Queued } from "./run-queue.ts";

export type Fed =
  | { readonly kind: "opened"; readonly source: OpenSource }
  | { readonly kind: "run"; readonly run: PlannedRun };

export interface Feeding {
  /** `index` is the place of the source among all that were given. */
  open(source: ExportSource, index: number): Promise<OpenSource>;
  /** Gets the runs that are known to come, by source, whenever there are more of them. */
  onPlanned(runs: readonly RunSpans[]): void;
}

/** Yields the runs of all sources by their start. A source is opened when the runs before it were taken. */
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
      if (open.length > MAX_OPEN) throw tooManyOpen();
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
  readonly source: OpenSource;
}

/** The most open sources. Each holds its plan in memory and a file open. */
const MAX_OPEN = 256;

function refuseEarlier({ fileName, runs }: OpenSource, lastNs: bigint | undefined): void {
  const first = runs.next()?.nextNs;
  if (first === undefined || lastNs === undefined || first >= lastNs) return;
  const text = `${fileName} holds messages before the span that was given for it (${first} ns); it must be indexed again`;
  throw new ExportError("SpanExceeded", text);
}

function tooManyOpen(): ExportError {
  const text = `more than ${MAX_OPEN} recordings lie at the same time; export fewer of them or a part of the time at once`;
  return new ExportError("TooMuchOverlap", text);
}

function compare(a: bigint, b: bigint): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** The steps to be done, in the order of the written file. Runs of one step stand one behind the other in one source. */
export type Step =
  | { readonly kind: "opened"; readonly source: OpenSource }
  /** These runs are passed on as they are. */
  | { readonly kind: "pass"; readonly runs: PlannedRun[] }
  /** These runs overlap with nothing and are rewritten. */
  | { readonly kind: "rewrite"; readonly runs: PlannedRun[] }
  /** These runs overlap with nothing, and little of them is wanted. */
  | { readonly kind: "pick"; readonly runs: PlannedRun[] }
  /** This run overlaps in time with another, and they are merged. */
  | { readonly kind: "merge"; readonly run: PlannedRun };

/** Decides what is done with each run, by the runs before it and the one behind it. `mergesAll` treats each as if it overlapped. */
export async function* decideSteps(
  feed: AsyncIterable<Fed>,
  { mergesAll = false }: { mergesAll?: boolean } = {},
): AsyncGenerator<Step> {
  const decide = createDecider(mergesAll);
  const group = new Grouping();
  let held: PlannedRun | undefined;
  for await (const fed of feed) {
    if (fed.kind === "opened") {
      yield fed;
      continue;
    }
    if (held) yield* group.add(decide(held, fed.run));
    held = fed.run;
  }
  if (held) yield* group.add(decide(held, undefined));
  yield* group.end();
}

type GroupStep = Step & { readonly kind: "pass" | "rewrite" | "pick" };
type RunStep = GroupStep | (Step & { readonly kind: "merge" });

/** Joins the steps of runs that can be read at once; what is merged is loaded run by run. */
class Grouping {
  #group: GroupStep | undefined;

  /** Adds a step, and answers the steps to which nothing more is joined. */
  *add(step: RunStep): Generator<Step> {
    if (step.kind !== "merge" && this.#group && mayJoin(this.#group, step)) {
      this.#group.runs.push(...step.runs);
      return;
    }
    yield* this.end();
    if (step.kind === "merge") yield step;
    else this.#group = step;
  }

  *end(): Generator<Step> {
    if (this.#group) yield this.#group;
    this.#group = undefined;
  }
}

function createDecider(mergesAll: boolean) {
  /** The run that ends last among those before. */
  let latest: PlannedRun | undefined;
  return (run: PlannedRun, next: PlannedRun | undefined): RunStep => {
    const isAlone = !(latest && overlaps(latest, run)) && !(next && overlaps(run, next));
    if (!latest || endsAfter(run, latest)) latest = run;
    if (mergesAll || !isAlone) return { kind: "merge", run };
    if (run.mayPass) return { kind: "pass", runs: [run] };
    return { kind: run.mayPick ? "pick" : "rewrite", runs: [run] };
  };
}

/**
 * Whether the earlier run may hold a message that belongs behind one of the later run. Equal times go by `order`; the last time that a run
 * can have stands for all times beyond it, too.
 */
function overlaps(earlier: PlannedRun, later: PlannedRun): boolean {
  if (earlier.endNs === later.startNs) return earlier.order > later.order || earlier.endNs === MAX_TIME_NS;
  return earlier.endNs > later.startNs;
}

function endsAfter(a: PlannedRun, b: PlannedRun): boolean {
  return a.endNs === b.endNs ? a.order > b.order : a.endNs > b.endNs;
}

/**
 * Whether runs are read at once: small chunks that stand side by side, rewritten ones also with a little between them, as in a file that is
 * damaged in thousands of places, and chunks of which little is wanted, wherever they stand.
 */
function mayJoin(group: GroupStep, step: GroupStep): boolean {
  const [run, last] = [step.runs[0]!, group.runs.at(-1)!];
  if (step.kind !== group.kind || group.runs.length >= MAX_GROUP_RUNS || run.source !== last.source) return false;
  if (step.kind === "pick") return sumOf(group, "wantedBytes") + run.wantedBytes <= MAX_PICKED_BYTES;
  const gapBytes = run.offset - endOf(last);
  const mostGapBytes = step.kind === "rewrite" ? MAX_GAP_BYTES : 0;
  const isNear = gapBytes >= 0 && gapBytes <= mostGapBytes && endOf(run) - group.runs[0]!.offset <= MAX_GROUP_BYTES;
  return isNear && sumOf(group, "lengthBytes") + run.lengthBytes <= MAX_GROUP_UNCOMPRESSED_BYTES;
}

function sumOf({ runs }: GroupStep, name: "wantedBytes" | "lengthBytes"): number {
  return runs.reduce((sum, run) => sum + run[name], 0);
}

const MAX_GROUP_RUNS = 64;
const MAX_GROUP_BYTES = 2 * 1024 * 1024;
const MAX_GROUP_UNCOMPRESSED_BYTES = 4 * 1024 * 1024;
/** Reading so much more takes less long than another step. */
const MAX_GAP_BYTES = 4 * 1024;
const MAX_PICKED_BYTES = 1024 * 1024;

function endOf({ offset, recordBytes, indexesBytes }: PlannedRun): number {
  return offset + recordBytes + indexesBytes;
}
