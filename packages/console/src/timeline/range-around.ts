import { stateOf } from "./paint-row.ts";

/** Returns the columns beside each other that have any data, whichever its state; none where there is none. */
export function rangeAround(columns: Uint8Array, px: number): { fromPx: number; toPx: number } {
  const isSomething = (at: number) => !["nothing", "unasked"].includes(stateOf(columns[at] ?? 0));
  if (!isSomething(px)) return { fromPx: px, toPx: px };
  let [fromPx, toPx] = [px, px + 1];
  while (fromPx > 0 && isSomething(fromPx - 1)) fromPx -= 1;
  while (toPx < columns.length && isSomething(toPx)) toPx += 1;
  return { fromPx, toPx };
}
