import { ExportFault } from "../export-fault.ts";
import type { ExportSource } from "../export-options.ts";
import { popQueued, pushQueued, type Queued } from "../run-queue.ts";
import type { OpenSource, PlannedRun } from "./open-source.ts";

export type Fed = { kind: "opened"; source: OpenSource } | { kind: "run"; run: PlannedRun };

export interface Feeding {
  /** `index`: of the source as it was given. */
  open(source: ExportSource, index: number): Promise<OpenSource>;
  /** Told of the runs that are known to come whenever there are more of them. */
  onPlanned(runs: Iterable<PlannedRun>): void;
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
      if (source.runs.length === 0) continue;
      pushQueued(open, toFeed(source.runs.splice(0).reverse()));
      if (open.length > maxOpen) throw tooManyOpen();
      feeding.onPlanned(open.flatMap(({ runs }) => runs));
      continue;
    }
    const feed = popQueued(open);
    if (!feed) return;
    const run = feed.runs.pop()!;
    lastNs = run.startNs;
    if (feed.runs.length > 0) pushQueued(open, toFeed(feed.runs));
    yield { kind: "run", run };
  }
}

interface Feed extends Queued {
  /** The next one is the last: what was taken need not be kept. */
  runs: PlannedRun[];
}

function toFeed(runs: PlannedRun[]): Feed {
  const { startNs, order } = runs.at(-1)!;
  return { runs, nextNs: startNs, order };
}

/** Each holds its plan in memory and a file open. */
const maxOpen = 256;

function refuseEarlier({ fileName, runs }: OpenSource, lastNs: bigint | undefined): void {
  const first = runs[0]?.startNs;
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
