import { availableParallelism } from "node:os";
import { crc32 } from "node:zlib";
import { compressPieces } from "../../codecs/compress-pieces.ts";
import { nextRound } from "../../codecs/one-by-one.ts";
import { zstdWindowBytes } from "../../codecs/zstd-format.ts";
import { createLargeMemory } from "../../memory/large-memory.ts";
import { SourceChangedError, type SourceRange } from "../../sources/source.ts";
import type { PlannedRun } from "../plan/planned-source.ts";
import { type Cut, cutRecords } from "../rewrite/cut-records.ts";
import { toChange } from "../rewrite/run-job.ts";
import { meansOf } from "../rewrite/serve-job.ts";
import type { MessageKey } from "../rewrite/smallest-messages.ts";
import { contentInPieces } from "../rewrite/stored-run.ts";
import type { ChunkFacts } from "../write-mcap/mcap-writer.ts";
import { dataOf, headOf, hugeChunk, measureHuge } from "./huge-message.ts";
import { type Loaded, type Loading, placeOf, type RunPart, toLoaded, toStored } from "./load-run.ts";

/**
 * Loads a run that is too large to be held as it is decompressed, some megabytes at a time. A run that is not in order is read again for
 * each part.
 */
export async function* largePieces(run: PlannedRun, loading: Loading): AsyncGenerator<Loaded> {
  if (!(await canStream(run))) return yield* largeParts(run, loading);
  const { lane, compression } = loading;
  const selection = run.source.selection.sent;
  const huge = await measureHuge(run, loading, () => cutsOf(run));
  let cutEnd = 0;
  for await (const cut of cutsOf(run)) {
    if (cut.kind === "huge") {
      yield* hugeChunk(cut, run, { huge, loading });
      cutEnd = cut.at + cut.sizeBytes;
    } else {
      const piece = pieceOf(run, cut.bytes, cutEnd);
      cutEnd += cut.bytes.byteLength;
      const from = { bytes: cut.bytes, start: 0 };
      yield* toLoaded(await lane.run({ kind: "filter", from, runs: [piece], selection, compression }));
    }
    if (cutEnd >= run.wantedEnd) return;
  }
}

/** Describes some records of a run as if they were a run of their own. */
function pieceOf(run: PlannedRun, bytes: Uint8Array, start: number) {
  const { byteLength } = bytes;
  const places = { offset: 0, dataStart: 0, recordBytes: byteLength, storedBytes: byteLength, lengthBytes: byteLength };
  const wantedEnd = Math.max(0, Math.min(byteLength, run.wantedEnd - start));
  return { ...toStored(run), ...places, compression: "", checksum: crc32(bytes), wantedEnd };
}

/** Passes a large chunk on as it is. */
export async function* passLarge(run: PlannedRun, facts: ChunkFacts): AsyncGenerator<Loaded> {
  const { offset, recordBytes, indexesBytes } = run;
  const { source } = run.source.context;
  using _ahead = source.expect?.([{ start: offset, end: offset + recordBytes + indexesBytes }]);
  let chunks = [facts];
  for (const [start, lengthBytes, checksum] of [
    [offset, recordBytes, run.checksum],
    [offset + recordBytes, indexesBytes, run.indexesChecksum],
  ] as const) {
    let crc = 0;
    for (let done = 0; done < lengthBytes; done += PIECE_BYTES) {
      const bytes = await source.read(start + done, Math.min(PIECE_BYTES, lengthBytes - done));
      crc = crc32(bytes, crc);
      yield { kind: "chunks", bytes, checksum: crc32(bytes), chunks };
      chunks = [];
    }
    if (crc !== checksum)
      throw new SourceChangedError(`${placeOf(run)} is not what it was when the recording was verified`);
  }
}

const PIECE_BYTES = 1024 * 1024;

/** Loads the first of the parts in which a large run is merged with others. */
export async function largeFirstPart(run: PlannedRun, loading: Loading): Promise<RunPart> {
  if (loading.memory.shareBytes() < LEAST_STREAMED_BYTES || !(await canStream(run)))
    return loadLargePart(run, undefined, loading);
  const parts = streamedParts(run, loading);
  loading.opened.add(parts);
  const next = async (): Promise<RunPart> => {
    using _turn = await loadingTurns.take(1, loading.signal);
    const { done, value } = await parts.next();
    if (!done) return { ...value, next };
    loading.opened.delete(parts);
    return { fragment: noMessages, next: undefined };
  };
  return next();
}

/**
 * While a part is loaded it takes its memory several times: as it comes out of the decoder, as it is sent to a thread, and as it comes
 * back. More parts at a time than there are threads would only wait.
 */
const loadingTurns = createLargeMemory(1 + availableParallelism());

/** Reading a run beside others takes about so much memory. */
const LEAST_STREAMED_BYTES = 8 * 1024 * 1024;

const noMessages = { records: new Uint8Array(0), starts: new Uint32Array(0), timesNs: new BigUint64Array(0) };

async function* streamedParts(run: PlannedRun, { lane }: Loading): AsyncGenerator<Omit<RunPart, "next">> {
  const selection = run.source.selection.sent;
  let cutEnd = 0;
  for await (const cut of cutsOf(run)) {
    if (cut.kind === "huge") {
      const fragment = headOf(cut, run);
      if (fragment) yield { fragment, hugeAt: cut.at };
      cutEnd = cut.at + cut.sizeBytes;
    } else {
      const { bytes } = cut;
      const maxBytes = bytes.byteLength;
      const piece = pieceOf(run, bytes, cutEnd);
      cutEnd += maxBytes;
      const from = { bytes, start: 0 };
      const { fragment } = await lane.run({ kind: "gather", from, run: piece, selection, skip: 0, maxBytes });
      if (fragment.starts.length > 0) yield { fragment };
    }
    if (cutEnd >= run.wantedEnd) return;
  }
}

async function* largeParts(run: PlannedRun, loading: Loading): AsyncGenerator<Loaded> {
  for (let part: RunPart | undefined = await loadLargePart(run, undefined, loading); part; part = await part.next?.()) {
    if (part.hugeAt === undefined) yield { kind: "rest", fragment: part.fragment };
    else yield* hugeMessage(run, part.hugeAt, loading);
  }
}

/** Loads the messages of a large run behind one. The whole run is read for them. */
async function loadLargePart(run: PlannedRun, after: MessageKey | undefined, loading: Loading): Promise<RunPart> {
  const { hold, largeLane, memory, signal } = loading;
  const { context } = run.source;
  const selection = run.source.selection.sent;
  const { descriptor } = context.source;
  // Each pass over bzip2 takes half a minute, so that few large parts are better.
  const mostBytes = run.compression === "bz2" ? memory.shareBytes() : MOST_PART_BYTES;
  const maxBytes = Math.min(mostBytes, memory.shareBytes());
  const job = {
    kind: "gatherLarge",
    readFrom: { descriptor },
    run: toStored(run),
    selection,
    after,
    maxBytes,
  } as const;
  using _ahead = context.source.expect?.([recordOfRun(run)]);
  const { fragment, last, hasMore, hugeAt } = await largeLane.run(job, meansOf(context.source, { signal, hold }));
  return { fragment, hugeAt, next: hasMore ? () => loadLargePart(run, last, loading) : undefined };
}

const MOST_PART_BYTES = 12 * 1024 * 1024;

/** Writes one message of a large run that is itself too large to be held as a chunk of its own. */
export async function* hugeMessage(
  run: PlannedRun,
  at: number,
  loading: Loading,
): AsyncGenerator<Loaded & { kind: "chunks" }> {
  const huge = await measureHuge(run, loading, () => cutsOf(run));
  for await (const cut of cutsOf(run)) {
    if (cut.kind !== "huge" || cut.at !== at) continue;
    return yield* hugeChunk(cut, run, { huge, loading });
  }
}

/**
 * Opens the data alone of a message that is too large to be held, in pieces with memory of their own. They can be opened once. The source
 * stays open until they are read.
 */
export function hugeData(run: PlannedRun, at: number): () => AsyncGenerator<Uint8Array> {
  run.source.hold(1);
  return async function* () {
    for await (const cut of cutsOf(run)) {
      if (cut.kind !== "huge" || cut.at !== at) continue;
      yield* compressPieces("", dataOf(cut), cut.recordBytes);
      return run.source.release();
    }
  };
}

/** Cuts the run's records. Throws `SourceChangedError`. */
async function* cutsOf(run: PlannedRun): AsyncGenerator<Cut> {
  const { source, decompress, signal } = run.source.context;
  const stored = toStored(run);
  const read = async (offset: number, length: number): Promise<Uint8Array> => {
    signal?.throwIfAborted();
    return source.read(offset, length);
  };
  using _ahead = source.expect?.([recordOfRun(run)]);
  try {
    for await (const cut of cutRecords(contentInPieces(stored, { read, decompress }), stored)) {
      await nextRound();
      yield cut;
    }
  } catch (error) {
    const changed = toChange(error);
    throw changed === undefined ? error : new SourceChangedError(changed);
  }
}

function recordOfRun({ offset, recordBytes }: PlannedRun): SourceRange {
  return { start: offset, end: offset + recordBytes };
}

/** Whether a run can be read once, beside others: it is in order, and its decoder holds little. */
async function canStream(run: PlannedRun): Promise<boolean> {
  return run.isInOrder && (await heldToRead(run)) === 0;
}

/** How much a decoder holds of a run, if it is much. bzip2 is read and decompressed as a whole, in memory of its own and of ours. */
async function heldToRead({
  compression,
  storedBytes,
  lengthBytes,
  offset,
  dataStart,
  source,
}: PlannedRun): Promise<number> {
  if (compression === "bz2") return 2 * (storedBytes + lengthBytes);
  if (compression !== "zstd") return 0;
  const head = await source.context.source.read(offset + dataStart, Math.min(MOST_HEAD_BYTES, storedBytes));
  const windowBytes = Math.min(zstdWindowBytes(head), lengthBytes);
  return windowBytes > SMALL_WINDOW_BYTES ? windowBytes : 0;
}

const MOST_HEAD_BYTES = 18;
const SMALL_WINDOW_BYTES = 8 * 1024 * 1024;
