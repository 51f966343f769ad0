import { RecordingFault } from "../reasons.ts";
import { type Loaded, type Loading, orReport } from "./loading.ts";
import type { ChunkFacts } from "./output/mcap-writer.ts";
import type { PlannedRun } from "./plan/open-source.ts";
import { placeIn, readRuns, toPart } from "./read-runs.ts";
import type { ChannelIndex } from "./rewrite/seal-chunk.ts";
import type { StoredPart } from "./rewrite/stored-part.ts";
import { rewriteRuns } from "./rewrite-runs.ts";

/** Chunks as they are, where the message indexes behind them prove that this is right; the others are rewritten. */
export async function passRuns(runs: readonly PlannedRun[], loading: Loading): Promise<Loaded[]> {
  const read = await orReport(runs, loading, () => readRuns(runs));
  if (!read) return [];
  const passing = runs.map((run) => provePassing(run, { bytes: read, start: placeIn(runs, run), loading }));
  const bytes = loading.verifyPassThrough ? await verify(passing, read, loading) : read;
  const facts = passing.flatMap((proved) => (proved ? [proved.facts] : []));
  if (facts.length === runs.length) return [{ kind: "chunks", bytes, chunks: facts }];
  const loaded: Loaded[] = [];
  for (const [index, run] of runs.entries()) {
    const { start, end } = spanOf(run, placeIn(runs, run));
    const proved = passing[index];
    // Each with memory of its own: it is given away.
    const own = new Uint8Array(bytes.subarray(start, end));
    if (proved) loaded.push({ kind: "chunks", bytes: own, chunks: [proved.facts] });
    else loaded.push(...(await rewriteRuns([run], own, loading)));
  }
  return loaded;
}

/** A chunk that may be passed on. */
interface Passing {
  part: StoredPart;
  facts: ChunkFacts;
  /** Where its message indexes stand. */
  indexes: { start: number; end: number };
}

function provePassing(
  run: PlannedRun,
  { bytes, start, loading }: { bytes: Uint8Array; start: number; loading: Loading },
): Passing | undefined {
  const part = partOrNothing(run, bytes, start);
  if (!part) return undefined;
  const { chunkBytes, indexesBytes } = run.indexed!;
  const indexes = { start: start + chunkBytes, end: start + chunkBytes + indexesBytes };
  const channels = loading.checkOrder(bytes.subarray(indexes.start, indexes.end), part);
  if (!channels || !areAllWanted(channels, run)) return undefined;
  const { startNs, endNs, storedBytes, uncompressedBytes } = part;
  const placed = channels.map((channel) => ({ ...channel, start: channel.start + chunkBytes }));
  const facts = { startNs, endNs, storedBytes, uncompressedBytes, chunkBytes, indexesBytes, channels: placed };
  return { part, facts, indexes };
}

/** What is no chunk is reported when it is to be rewritten. */
function partOrNothing(run: PlannedRun, bytes: Uint8Array, start: number): StoredPart | undefined {
  try {
    return toPart(run, bytes, start);
  } catch (error) {
    if (error instanceof RecordingFault) return undefined;
    throw error;
  }
}

/** The index in the summary may tell of fewer channels than the indexes behind the chunk. */
function areAllWanted(channels: readonly ChannelIndex[], { source }: PlannedRun): boolean {
  const ids = new Set(channels.map(({ channelId }) => channelId));
  return ids.size === channels.length && channels.every(({ channelId: id }) => source.selection.ids.get(id) === id);
}

/** Takes out those whose content is not what the indexes say; answers the bytes, which went through another thread. */
async function verify(passing: (Passing | undefined)[], read: Uint8Array, { lane }: Loading): Promise<Uint8Array> {
  const claims = passing.flatMap((proved, index) =>
    proved ? [{ index, part: proved.part, indexes: proved.indexes }] : [],
  );
  const { bytes, refuted } = await lane.run({ kind: "verify", bytes: read, claims });
  for (const index of refuted) passing[index] = undefined;
  return bytes;
}

function spanOf({ indexed }: PlannedRun, start: number): { start: number; end: number } {
  return { start, end: start + indexed!.chunkBytes + indexed!.indexesBytes };
}
