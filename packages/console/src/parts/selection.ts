import { useState } from "preact/hooks";
import { keepInEntry, readEntry } from "../browser/entry-state.ts";

/** The selection in a list: some rows by their ids, or everything that the filter of the page matches. */
export interface Selection {
  readonly ids: ReadonlySet<string>;
  readonly isAll: boolean;
}

export const nothing: Selection = { ids: new Set(), isAll: false };
export const everything: Selection = { ids: new Set(), isAll: true };

export function isSelected({ ids, isAll }: Selection, id: string): boolean {
  return isAll || ids.has(id);
}

/** Selects a row, or no longer. While everything is selected, one row cannot be left out, so that then that row alone is selected. */
export function toggle({ ids, isAll }: Selection, id: string): Selection {
  if (isAll) return { ids: new Set([id]), isAll: false };
  const next = new Set(ids);
  if (!next.delete(id)) next.add(id);
  return { ids: next, isAll: false };
}

/** Adds a choice to some, or takes it away. */
export function toggleIn<T>(chosen: readonly T[], one: NoInfer<T>): readonly T[] {
  return chosen.includes(one) ? chosen.filter((other) => other !== one) : [...chosen, one];
}

/** Selects some rows more. */
export function extend({ ids }: Selection, added: readonly string[]): Selection {
  return { ids: new Set([...ids, ...added]), isAll: false };
}

export function isEmpty({ ids, isAll }: Selection): boolean {
  return !isAll && ids.size === 0;
}

/**
 * Returns the selection among the rows that `of` names, such as a filter. It ends with another filter, so that no user acts on rows out of
 * sight, and it is there again after Back.
 */
export function useSelection(of: string): readonly [Selection, (selection: Selection) => void] {
  const [chosen, setChosen] = useState(() => readKeptSelection() ?? { of, selection: nothing });
  const selection = chosen.of === of ? chosen.selection : nothing;
  const select = (selected: Selection) => {
    setChosen({ of, selection: selected });
    keepInEntry(KEY, { of, ids: [...selected.ids], isAll: selected.isAll });
  };
  return [selection, select];
}

const KEY = "selection";

function readKeptSelection(): { of: string; selection: Selection } | undefined {
  const kept = readEntry(KEY) as { of: string; ids: string[]; isAll: boolean } | undefined;
  return kept && { of: kept.of, selection: { ids: new Set(kept.ids), isAll: kept.isAll } };
}
