import { ExportFault } from "./export-fault.ts";
import type { ExportSource } from "./export-options.ts";
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
