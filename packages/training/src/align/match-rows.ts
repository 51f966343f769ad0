import type { Series } from "./collect-series.ts";
import type { PlannedPart } from "./plan.ts";

/** Which messages the rows take for a part, as places in its series. */
export interface Match {
  /** −1: there is none. */
  readonly from: Int32Array;
  /** For a value between two messages, the second one; else −1. */
  readonly to: Int32Array;
  /** The share of the second one, from 0 to 1. */
  readonly share: Float64Array;
}

interface Wanted extends Pick<PlannedPart, "part"> {
  readonly maxGapNs: number;
}

/** Finds the messages of each row. The times of both rise. */
export function matchRows({ part, maxGapNs }: Wanted, { atNs }: Pick<Series, "atNs">, rowsNs: Float64Array): Match {
  const match: Match = {
    from: new Int32Array(rowsNs.length).fill(-1),
    to: new Int32Array(rowsNs.length).fill(-1),
    share: new Float64Array(rowsNs.length),
  };
  let next = 0;
  for (const [row, at] of rowsNs.entries()) {
    while (next < atNs.length && atNs[next]! <= at) next += 1;
    choose[part.align](match, row, { at, place: next - 1, atNs, maxGapNs });
  }
  return match;
}

interface Neighbours {
  readonly at: number;
  /** The last message at or before the row; −1: there is none. */
  readonly place: number;
  readonly atNs: Float64Array;
  readonly maxGapNs: number;
}

const choose = {
  hold({ from }: Match, row: number, { at, place, atNs, maxGapNs }: Neighbours): void {
    if (place >= 0 && at - atNs[place]! <= maxGapNs) from[row] = place;
  },
  nearest({ from }: Match, row: number, { at, place, atNs, maxGapNs }: Neighbours): void {
    const before = place >= 0 ? at - atNs[place]! : Number.POSITIVE_INFINITY;
    const after = (atNs[place + 1] ?? Number.POSITIVE_INFINITY) - at;
    if (Math.min(before, after) <= maxGapNs) from[row] = before <= after ? place : place + 1;
  },
  interpolate({ from, to, share }: Match, row: number, { at, place, atNs, maxGapNs }: Neighbours): void {
    const before = atNs[place];
    const after = atNs[place + 1];
    if (before === at) from[row] = place;
    if (before === undefined || before === at || after === undefined || after - before > maxGapNs) return;
    from[row] = place;
    to[row] = place + 1;
    share[row] = (at - before) / (after - before);
  },
};
