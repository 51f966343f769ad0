import { bits, type State, stateOf } from "./paint-row.ts";

export const STATE_WORDS: Readonly<Record<State, string>> = {
  failed: "failed",
  onItsWay: "on its way",
  edgeOnly: "on the device only",
  imported: "imported",
  nothing: "no data",
  unasked: "not loaded yet",
};

/** Says what a cell holds, an event too. */
export function describeCell(cell: number): string {
  const text = STATE_WORDS[stateOf(cell)];
  return cell & bits.event ? `${text}, an event` : text;
}
