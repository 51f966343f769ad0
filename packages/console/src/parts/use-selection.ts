import { useState } from "preact/hooks";
import { nothing, type Selection } from "./selection.ts";

/**
 * Returns the selection among the rows that `of` names, such as a filter. It ends with another filter, so that no user acts on rows out of
 * sight.
 */
export function useSelection(of: string): readonly [Selection, (selection: Selection) => void] {
  const [chosen, setChosen] = useState({ of, selection: nothing });
  const selection = chosen.of === of ? chosen.selection : nothing;
  return [selection, (selected) => setChosen({ of, selection: selected })];
}
