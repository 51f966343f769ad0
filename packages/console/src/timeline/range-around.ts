import { stateOf } from "./paint-row.ts";

/** Returns the nearest column with data, at most `reachPx` away; `px` itself where there is none. */
export function nearestData(columns: Uint8Array, px: number, reachPx: number): number {
  for (let away = 0; away <= reachPx; away++) {
    const found = [px - away, px + away].find((at) => isData(columns[at] ?? 0));
    if (found !== undefined) return found;
  }
  return px;
}

function isData(cell: number): boolean {
  return !["nothing", "unasked"].includes(stateOf(cell));
}

/** Returns the columns beside each other that have any data, whichever its state; none where there is none. */
export function rangeAround(columns: Uint8Array, px: number): { fromPx: number; toPx: number } {
  const isSomething = (at: number) => isData(columns[at] ?? 0);
  if (!isSomething(px)) return { fromPx: px, toPx: px };
  let [fromPx, toPx] = [px, px + 1];
  while (fromPx > 0 && isSomething(fromPx - 1)) fromPx -= 1;
  while (toPx < columns.length && isSomething(toPx)) toPx += 1;
  return { fromPx, toPx };
}
