import { ExportError } from "../plan/export-options.ts";
import type { PlannedRun, RunSpans } from "../plan/planned-source.ts";

/**
 * Divides the memory for merging among the runs that overlap in time. A run that is larger than its share is read again for each part and
 * not written to a temporary file: sorted recordings never pay for this, and shuffled ones pay with time instead of memory.
 */
export interface MemoryShare {
  /** How much memory the next part of a run may take. */
  shareBytes(): number;
  /** Gets the runs that are known to come, by source. Throws `TooMuchOverlap` if their shares would be too small. */
  plan(runs: readonly RunSpans[]): void;
  /** Notes how much a run holds while it is merged, instead of what it held before; 0 if it is done. */
  hold(run: PlannedRun, bytes: number): void;
}

/** `sources` are the spans of the sources. Those that overlap will be merged at the same time. */
export function createMemoryShare(budgetBytes: number, sources: readonly Span[]): MemoryShare {
  const held = new Map<PlannedRun, number>();
  const overlappingSources = countOverlapping(
    toTimes(sources.map(({ startNs }) => startNs)),
    toTimes(sources.map(({ endNs }) => endNs)),
  );
  let overlapping = overlappingSources;
  let heldBytes = 0;
  return {
    shareBytes: () =>
      Math.max(Math.min(budgetBytes / overlapping, budgetBytes - heldBytes), Math.ceil(budgetBytes / LEAST_SHARES)),
    plan(planned) {
      const running = [...held.keys()];
      const startsNs = join([
        ...planned.map((runs) => runs.startsNs()),
        toTimes(running.map(({ startNs }) => startNs)),
      ]);
      const endsNs = join([...planned.map((runs) => runs.endsNs()), toTimes(running.map(({ endNs }) => endNs))]);
      const count = startsNs.length;
      if (count > MAX_RUNS) throw tooMuch(`${count} chunks lie in recordings of the same time`);
      overlapping = Math.max(countOverlapping(startsNs, endsNs), overlappingSources);
      const lengths = [...planned.map((runs) => runs.largestBytes()), ...running.map(({ lengthBytes }) => lengthBytes)];
      const isTooMuch = overlapping > 1 && (budgetBytes / overlapping) * MAX_READS < Math.max(0, ...lengths);
      if (isTooMuch) throw tooMuch(`up to ${overlapping} chunks overlap in time`);
    },
    hold(run, bytes) {
      heldBytes += bytes - (held.get(run) ?? 0);
      if (bytes > 0) held.set(run, bytes);
      else held.delete(run);
    },
  };
}

const MAX_RUNS = 2_000_000;
/** A run that is larger than its share is read again for each part. Reading it more often than this would take too long. */
const MAX_READS = 64;
/** However much is held, a part gets at least this share of the budget, so that there is progress. */
const LEAST_SHARES = 1024;

interface Span {
  readonly startNs: bigint;
  readonly endNs: bigint;
}

function toTimes(timesNs: readonly bigint[]): BigInt64Array {
  return BigInt64Array.from(timesNs);
}

function join(arrays: readonly BigInt64Array[]): BigInt64Array {
  const joined = new BigInt64Array(arrays.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const each of arrays) {
    joined.set(each, at);
    at += each.length;
  }
  return joined;
}

/** The largest number of spans that have a moment in common; at least 1. Sorts the arrays. */
function countOverlapping(starts: BigInt64Array, ends: BigInt64Array): number {
  starts.sort();
  ends.sort();
  let ended = 0;
  let most = 1;
  for (let started = 0; started < starts.length; started += 1) {
    while (ends[ended]! < starts[started]!) ended += 1;
    most = Math.max(most, started + 1 - ended);
  }
  return most;
}

function tooMuch(what: string): ExportError {
  const text = `${what}, which cannot be put in order in the memory that an export may take; export a part of the time, or sort the recordings`;
  return new ExportError("TooMuchOverlap", text);
}
