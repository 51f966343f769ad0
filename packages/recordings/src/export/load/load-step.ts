import { WHOLE_CHUNK_BYTES } from "../../verified/verified-run.ts";
import type { Step } from "../plan/decide-steps.ts";
import type { PlannedRun } from "../plan/planned-source.ts";
import type { PickedRun } from "../rewrite/pick-messages.ts";
import { UNWANTED } from "../rewrite/selection.ts";
import type { ChunkFacts } from "../write-mcap/mcap-writer.ts";
import { largeFirstPart, largePieces, passLarge } from "./large-pieces.ts";
import {
  bytesOf,
  isLarge,
  type Loaded,
  type Loading,
  loadPart,
  placeOf,
  type RunPart,
  rangeOf,
  toLoaded,
  toStored,
} from "./load-run.ts";
import type { Task } from "./run-ahead.ts";

/** Reads and rewrites what a step names. If something is not as its index says, the export ends. */
export function toTask(step: Step, loading: Loading): Task<Loaded[]> {
  if (step.kind === "opened") return { weightBytes: 0, run: async () => [step] };
  if (step.kind === "merge") {
    const { run } = step;
    const weightBytes =
      Math.min(run.storedBytes, WHOLE_CHUNK_BYTES) + Math.min(run.lengthBytes, loading.memory.shareBytes());
    const loadFirst = (): Promise<RunPart> => (isLarge(run) ? largeFirstPart(run, loading) : loadPart(run, 0, loading));
    return { weightBytes, run: async () => [{ kind: "part", run, part: await loadFirst() }] };
  }
  const { kind, runs } = step;
  const weightBytes = runs.reduce((sum, run) => sum + weightOf(run, kind), 0);
  const load = { pass: passRuns, rewrite: rewriteRuns, pick: pickRuns }[kind];
  return {
    weightBytes,
    async run() {
      return releaseAfter(await load(runs, loading), runs);
    },
  };
}

/** Releases the sources, for what is loaded piece by piece only behind the last piece. */
async function releaseAfter(loaded: Loaded[], runs: readonly PlannedRun[]): Promise<Loaded[]> {
  const release = async (): Promise<void> => {
    for (const { source } of runs) await source.release();
  };
  const [first] = loaded;
  if (first?.kind === "pieces") return [{ kind: "pieces", open: () => thenRelease(first.open(), release) }];
  await release();
  return loaded;
}

async function* thenRelease(pieces: AsyncGenerator<Loaded>, release: () => Promise<void>): AsyncGenerator<Loaded> {
  yield* pieces;
  await release();
}

function weightOf(run: PlannedRun, kind: Step["kind"]): number {
  if (isLarge(run)) return 0; // it is loaded only when its turn comes
  if (kind === "pass") return run.recordBytes + run.indexesBytes;
  return kind === "pick" ? run.wantedBytes : run.wantedBytes + run.recordBytes;
}

/** Passes chunks on as they are. */
async function passRuns(runs: readonly PlannedRun[], { lane }: Loading): Promise<Loaded[]> {
  const [first] = runs as [PlannedRun];
  if (isLarge(first)) {
    const facts = await toFacts(first);
    return [{ kind: "pieces", open: () => passLarge(first, facts) }];
  }
  const chunks = runs.map((run) => ({ ...run, source: undefined, place: placeOf(run) }));
  const range = rangeOf(runs);
  const from = await bytesOf(runs, range);
  const { bytes, checksum } = await lane.run({ kind: "pass", from, ...range, chunks });
  return [{ kind: "chunks", bytes, checksum, chunks: await Promise.all(runs.map(toFacts)) }];
}

async function toFacts(run: PlannedRun): Promise<ChunkFacts> {
  const { recordBytes: chunkBytes, indexesBytes, storedBytes, lengthBytes: uncompressedBytes, startNs, endNs } = run;
  const channels = await run.source.channelsOf(run);
  const { ids } = run.source.selection;
  return {
    chunkBytes,
    indexesBytes,
    storedBytes,
    uncompressedBytes,
    startNs,
    endNs,
    channels: channels.map(({ channelId, messageCount, indexStart }) => ({
      channelId: ids.get(channelId)!,
      messageCount,
      start: chunkBytes + indexStart,
    })),
  };
}

async function rewriteRuns(runs: readonly PlannedRun[], loading: Loading): Promise<Loaded[]> {
  const [first] = runs as [PlannedRun];
  if (isLarge(first)) return [{ kind: "pieces", open: () => largePieces(first, loading) }];
  const from = await bytesOf(runs, rangeOf(runs));
  const selection = first.source.selection.sent;
  const { lane, compression } = loading;
  return toLoaded(await lane.run({ kind: "filter", from, runs: runs.map(toStored), selection, compression }));
}

async function pickRuns(runs: readonly PlannedRun[], { lane, compression }: Loading): Promise<Loaded[]> {
  const { context } = runs[0]!.source;
  const selection = runs[0]!.source.selection.sent;
  const from = { descriptor: context.source.descriptor! };
  const picked = await Promise.all(runs.map(toPicked));
  return toLoaded(await lane.run({ kind: "pick", from, runs: picked, selection, compression }));
}

async function toPicked(run: PlannedRun): Promise<PickedRun> {
  const { ids } = run.source.selection;
  const channels = await run.source.channelsOf(run);
  const wanted = channels.filter(({ channelId }) => (ids.get(channelId) ?? UNWANTED) !== UNWANTED);
  const indexesOffset = run.offset + run.recordBytes;
  return {
    ...toStored(run),
    channels: wanted.map(({ channelId, messageCount, recordsBytes, indexStart }) => ({
      channelId,
      messageCount,
      recordsBytes,
      indexOffset: indexesOffset + indexStart,
    })),
  };
}
