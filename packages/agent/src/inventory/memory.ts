import type { CardSwap } from "./card-rows.ts";
import { type FileState, stateBeneath } from "./file-state.ts";
import type { loadInventory } from "./inventory-rows.ts";
import type { Removal, TrackedFile } from "./tracked-file.ts";

/** The mark is on the file itself, because a set of 100,000 files that were found would take megabytes at each scan. */
type Findable = TrackedFile & { foundIn: number };

/** The inventory as the agent sees it. It is never ahead of the database. */
export interface Memory {
  readonly byPath: Map<string, Findable>;
  readonly byVersion: Map<string, TrackedFile>;
  /** Cards that are out and hold known files. */
  readonly cardsOut: Set<string>;
  readonly due: Set<string>;
  readonly removals: Map<string, Removal>;
}

export function indexFiles({ files, removals }: ReturnType<typeof loadInventory>): Memory {
  const maps = { byPath: new Map(), byVersion: new Map(), removals: new Map(removals) };
  const memory = { ...maps, due: new Set<string>(), cardsOut: new Set<string>() };
  for (const file of files) {
    if (file.away) memory.cardsOut.add(file.away.card);
    else memory.byPath.set(file.path, file);
    memory.byVersion.set(file.versionId, file);
    if (file.needsReport) memory.due.add(file.versionId);
  }
  return memory;
}

export function swapInMemory({ byPath, byVersion, cardsOut }: Memory, { out, into, atNs }: CardSwap): void {
  if (byPath.size > 0) cardsOut.add(out);
  byPath.clear();
  for (const [versionId, file] of byVersion) {
    const { away = { card: out, before: stateBeneath(file.state), sinceNs: atNs }, ...rest } = file;
    if (away.card !== into) {
      if (!file.away) byVersion.set(versionId, { ...rest, state: "away", away });
      continue;
    }
    const here = { ...rest, state: away.before };
    byVersion.set(versionId, here);
    byPath.set(here.path, here);
  }
  if (into !== undefined) cardsOut.delete(into);
}

export function countByState(files: Iterable<TrackedFile>): Partial<Record<FileState, number>> {
  const counts: Partial<Record<FileState, number>> = {};
  for (const { state } of files) counts[state] = (counts[state] ?? 0) + 1;
  return counts;
}
