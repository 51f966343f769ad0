import { useState } from "preact/hooks";
import { nothing, type Selection } from "./selection.ts";

/** What is selected of the rows that `of` names, such as a filter: of other rows nothing is, so that nobody acts on what they do not see. */
export function useSelection(of: string): readonly [Selection, (selection: Selection) => void] {
  const [chosen, setChosen] = useState({ of, selection: nothing });
  const selection = chosen.of === of ? chosen.selection : nothing;
  return [selection, (selected) => setChosen({ of, selection: selected })];
}
