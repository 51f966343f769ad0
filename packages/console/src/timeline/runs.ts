import { bits, type State, stateOf } from "./paint-row.ts";

/** Columns beside each other that look the same. */
export interface Run {
  readonly state: State;
  readonly hasEvent: boolean;
  readonly fromPx: number;
  readonly toPx: number;
}

export function runsOf(columns: Uint8Array): Run[] {
  const runs: Run[] = [];
  let fromPx = 0;
  for (let px = 1; px <= columns.length; px++) {
    if (px < columns.length && looksLike(columns[px]!, columns[fromPx]!)) continue;
    const cell = columns[fromPx]!;
    runs.push({ state: stateOf(cell), hasEvent: (cell & bits.event) !== 0, fromPx, toPx: px });
    fromPx = px;
  }
  return runs;
}

function looksLike(one: number, other: number): boolean {
  return stateOf(one) === stateOf(other) && (one & bits.event) === (other & bits.event);
}

/** Returns the next column, in a direction, at which something begins or ends; the last one if there is none. */
export function nextEdge(columns: Uint8Array, at: number, direction: 1 | -1): number {
  for (let px = at + direction; px >= 0 && px < columns.length; px += direction) {
    const before = px - 1;
    const begins = before >= 0 && !looksLike(columns[px]!, columns[before]!);
    if (begins) return px;
  }
  return direction > 0 ? columns.length - 1 : 0;
}
