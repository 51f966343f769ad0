import { type Loaded, type Loading, orReport } from "./loading.ts";
import type { PlannedRun } from "./plan/open-source.ts";
import { placeIn, toPart } from "./read-runs.ts";
import type { StoredPart } from "./rewrite/stored-part.ts";

/** Into chunks of their selected messages; `bytes` is what was read of all runs, and is given away. */
export async function rewriteRuns(runs: readonly PlannedRun[], bytes: Uint8Array, loading: Loading): Promise<Loaded[]> {
  const sound: PlannedRun[] = [];
  const parts: StoredPart[] = [];
  for (const run of runs) {
    const part = await orReport([run], loading, () => toPart(run, bytes, placeIn(runs, run)));
    if (!part) continue;
    sound.push(run);
    parts.push(part);
  }
  if (parts.length === 0) return [];
  const { lane, damage, compression } = loading;
  const { selection } = runs[0]!.source;
  const { chunks, rest, damage: damaged } = await lane.run({ kind: "filter", bytes, parts, selection, compression });
  for (const { index, reason } of damaged) await damage.add(sound[index]!, reason);
  const loaded: Loaded[] = chunks.map(({ bytes: chunkBytes, ...facts }) => {
    return { kind: "chunks", bytes: chunkBytes, chunks: [facts] };
  });
  if (rest.starts.length > 0) loaded.push({ kind: "rest", fragment: rest });
  return loaded;
}
