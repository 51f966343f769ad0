import { ExportFault } from "./export-fault.ts";
import type { PlannedRun } from "./plan/open-source.ts";

/** Divides the memory for merging among the runs that overlap in time. */
export interface MemoryShare {
  /** What the next part of a run may take. */
  shareBytes(): number;
  /** Told of the runs that are to come. Faults with `TooMuchOverlap` when their shares would be too small. */
  plan(runs: Iterable<PlannedRun>): void;
  /** What a run holds while it is merged, instead of what it held before; 0: it is done with. */
  hold(run: PlannedRun, bytes: number): void;
}

/** `sources`: their spans, of which those that overlap will be merged at the same time. */
export function createMemoryShare(budgetBytes: number, sources: readonly Span[]): MemoryShare {
  const held = new Map<PlannedRun, number>();
  const overlappingSources = countOverlapping(sources);
  let overlapping = overlappingSources;
  let heldBytes = 0;
  return {
    shareBytes: () =>
      Math.max(Math.min(budgetBytes / overlapping, budgetBytes - heldBytes), Math.ceil(budgetBytes / leastShares)),
    plan(planned) {
      const runs = [...planned, ...held.keys()];
      if (runs.length > maxRuns) throw tooMuch(`${runs.length} chunks lie in recordings of the same time`);
      overlapping = Math.max(countOverlapping(runs), overlappingSources);
      const largest = runs.reduce((most, { lengthBytes }) => Math.max(most, lengthBytes), 0);
      const isTooMuch = overlapping > 1 && (budgetBytes / overlapping) * maxReads < largest;
      if (isTooMuch) throw tooMuch(`up to ${overlapping} chunks overlap in time`);
    },
    hold(run, bytes) {
      heldBytes += bytes - (held.get(run) ?? 0);
      if (bytes > 0) held.set(run, bytes);
      else held.delete(run);
    },
  };
}

const maxRuns = 2_000_000;
/** A run that is larger than its share is read again for each part; more often than this would take for ever. */
const maxReads = 64;
/** However much is held, some progress must be made. */
const leastShares = 1024;

interface Span {
  startNs: bigint;
  endNs: bigint;
}

/** The largest number that have a moment in common; at least 1. */
function countOverlapping(spans: readonly Span[]): number {
  const starts = BigInt64Array.from(spans, ({ startNs }) => startNs).sort();
  const ends = BigInt64Array.from(spans, ({ endNs }) => endNs).sort();
  let ended = 0;
  let most = 1;
  for (let started = 0; started < starts.length; started += 1) {
    while (ends[ended]! < starts[started]!) ended += 1;
    most = Math.max(most, started + 1 - ended);
  }
  return most;
}

function tooMuch(what: string): ExportFault {
  const text = `${what}, which cannot be put in order in the memory that an export may take; export a part of the time, or sort the recordings`;
  return new ExportFault("TooMuchOverlap", text);
}
