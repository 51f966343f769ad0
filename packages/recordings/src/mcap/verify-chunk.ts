import { crc32 } from "node:zlib";
import { combineChecksums } from "../codecs/combine-checksums.ts";
import { isPlain } from "../codecs/decompress.ts";
import { isOneFrame } from "../codecs/decompress-frames.ts";
import { type Reason, RecordingError } from "../faults/reasons.ts";
import { freeOwn } from "../memory/free-memory.ts";
import type { Beginning } from "../reading/begun-chunk.ts";
import { placeOf, refuseLargeChunk } from "../reading/chunk.ts";
import { isLeftOut, isTooMuchToScan, leaveOutChunk, tooMuch } from "../reading/tally-chunk.ts";
import { addChunk, addTally } from "../survey/survey.ts";
import { type Trust, trusts } from "../survey/trust.ts";
import {
  MAX_WRITTEN_CHUNK_BYTES,
  spanOfChannels,
  type VerifiedRun,
  WHOLE_CHUNK_BYTES,
} from "../verified/verified-run.ts";
import type { Verifying } from "../verified/verifying.ts";
import { createDefiner } from "./define.ts";
import { doubtTimes, mayDoubt } from "./doubt-times.ts";
import { RECORD_HEAD_BYTES } from "./opcodes.ts";
import type { RecordHead } from "./record-head.ts";
import { sortIndexes } from "./sort-indexes.ts";
import { contentOf, openBeginning, readStoredChunk, type StoredChunk } from "./stored-chunk.ts";
import { RecordTally, spanOfRun, type TalliedRecords, tallyOf } from "./tally-messages.ts";
import type { McapChunk } from "./walk-mcap.ts";

export interface ChunkVerifier {
  /** Reads a chunk and compares it with what it and its message indexes say. A salvage throws {@link DamagedChunkError}. */
  verify(head: RecordHead): Promise<StoredChunk>;
  /** Adds the beginning of a chunk that is not whole. Answers false if it contradicts what is known of the file. */
  addBegun(beginning: Beginning<McapChunk>): Promise<boolean>;
}

/** The record of a chunk makes sense, and its content cannot be read as a whole. */
export class DamagedChunkError extends RecordingError {
  readonly stored: StoredChunk;

  constructor(stored: StoredChunk, { code, text }: Reason) {
    super(code, text);
    this.name = "DamagedChunkError";
    this.stored = stored;
  }
}

export function createChunkVerifier(verifying: Verifying, footerOffset: number): ChunkVerifier {
  const { context, survey, isSalvage } = verifying;
  const { limits, source } = context;
  const chunkTally = createChunkTally(verifying);
  const add = async (stored: StoredChunk): Promise<void> => {
    if (isTooMuchToScan(survey, stored.chunk, context)) throw tooMuch(stored.chunk);
    refuseLargeChunk(stored.chunk, limits.maxChunkBytes);
    addChunk(survey, stored.chunk.uncompressedBytes, { sizeBytes: source.sizeBytes, limits });
    const run = await verifyChunk(stored, chunkTally, verifying);
    if (run.channels.length > 0) await verifying.add(run);
  };
  return {
    async addBegun(beginning) {
      survey.hasUncheckedMessages = true;
      try {
        await add(await openBeginning(beginning.chunk, verifying));
        return true;
      } catch (error) {
        if (error instanceof RecordingError) return false;
        throw error;
      }
    },
    async verify(head) {
      const stored = await readStoredChunk(head, verifying, footerOffset);
      if (stored.chunk.crc === 0) survey.hasUncheckedMessages = true;
      try {
        await add(stored);
      } catch (error) {
        if (!isSalvage || !(error instanceof RecordingError)) throw error;
        if (!isLeftOut(error, limits)) throw new DamagedChunkError(stored, error.reason);
        leaveOutChunk(survey, stored.chunk);
      }
      survey.readableBytes = stored.end;
      return stored;
    },
  };
}

async function verifyChunk(stored: StoredChunk, chunkTally: ChunkTally, verifying: Verifying): Promise<VerifiedRun> {
  const { head, bytes, indexes } = stored;
  const tallied = await chunkTally(stored, indexes);
  const named = tallied.hasTrueIndexes ? tallied : await tallyBySortedIndexes(stored, indexes, chunkTally);
  const hasDoubtedTimes = await addTallies(stored, tallied, verifying);
  return {
    ...factsOf(stored, tallied),
    hasDoubtedTimes,
    checksum: bytes ? checksumOfHeld(stored, bytes, tallied.crc) : await checksumOf(head, verifying),
    indexesChecksum: crc32(indexes),
    hasTrueIndexes: named?.hasTrueIndexes ?? false,
    // A channel without a checksum may turn out to be another one.
    mayPass: mayPass(stored, tallied) && !(verifying.isSalvage && tallied.crc === undefined),
    channels: (named?.hasTrueIndexes ? named : tallied).channels,
  };
}

/** Times that no recorder can have written are counted, and count for no span. Answers whether there are any. */
async function addTallies(stored: StoredChunk, tallied: TalliedChunk, verifying: Verifying): Promise<boolean> {
  const { survey, damage } = verifying;
  const isDoubtful = mayDoubt(stored, spanOfChannels(tallied.channels));
  const doubted = isDoubtful
    ? await doubtTimes(
        stored,
        contentOf(stored, verifying, () => undefined),
      )
    : undefined;
  for (const channel of tallied.channels)
    addTally(survey, channel.channelId, doubted?.tallies.get(channel.channelId) ?? tallyOf(channel, tallied.parts));
  const messageCount = tallied.lateCount + (doubted?.messageCount ?? 0);
  if (messageCount > 0) damage.addDoubted(placeOf(stored.chunk), { offset: stored.head.offset, messageCount });
  return messageCount > 0;
}

interface TalliedChunk extends TalliedRecords {
  /** CRC-32 of the decompressed records. It is undefined if the chunk gives none to compare it with. */
  readonly crc: number | undefined;
  /** Whether a chunk that was read in pieces is nothing but one frame. */
  readonly isOneFrame: boolean;
}

type ChunkTally = (stored: StoredChunk, indexes: Uint8Array) => Promise<TalliedChunk>;

/** Decompresses a chunk and counts what is in it. Throws if its checksum or its sizes are not true. */
function createChunkTally(verifying: Verifying): ChunkTally {
  let reading: StoredChunk | undefined;
  const definer = createDefiner(verifying);
  const tally = new RecordTally(
    (opcode, content, at) => definer.define({ opcode, content, at, chunk: reading!.chunk }),
    verifying.context.limits.maxRecordBytes,
  );
  return async (stored, indexes) => {
    const { chunk } = stored;
    reading = stored;
    tally.begin(placeOf(chunk), indexes);
    definer.begin(trustOf(stored));
    let crc = 0;
    let isOneFrame = chunk.compression === "";
    const onFrames = (isOne: boolean): void => {
      isOneFrame = isOne;
    };
    for await (const piece of contentOf(stored, verifying, onFrames)) {
      if (chunk.crc !== 0) crc = crc32(piece, crc);
      tally.push(piece);
      if (!isPlain(chunk.compression)) freeOwn(piece);
    }
    if (crc !== chunk.crc)
      throw new RecordingError("BadChunk", `${placeOf(chunk)} fails its checksum; the file is damaged there`);
    const tallied = tally.end();
    definer.end();
    return { ...tallied, crc: chunk.crc === 0 ? undefined : crc, isOneFrame };
  };
}

/** The definitions of a chunk are trusted so far, if it can be read at all. */
function trustOf({ chunk, isBegun }: StoredChunk): Trust {
  if (chunk.crc !== 0) return trusts.proven;
  return isBegun ? trusts.begun : trusts.unchecked;
}

/**
 * Compares the indexes once more after sorting them: indexes that name the messages in another order are good for finding messages, though
 * not for passing the chunk on.
 */
async function tallyBySortedIndexes(
  stored: StoredChunk,
  indexes: Uint8Array,
  chunkTally: ChunkTally,
): Promise<TalliedRecords | undefined> {
  const isWorthIt = indexes.byteLength > 0 && stored.chunk.uncompressedBytes <= WHOLE_CHUNK_BYTES;
  const sorted = isWorthIt ? sortIndexes(indexes) : undefined;
  return sorted && chunkTally(stored, sorted);
}

function factsOf({ chunk, head, end }: StoredChunk, { channels, isInOrder, largestBytes, lateCount }: TalliedRecords) {
  const places = { offset: head.offset, recordBytes: head.end - head.offset, indexesBytes: end - head.end };
  const { startNs, endNs } = spanOfRun(channels, lateCount);
  const lengthBytes = chunk.uncompressedBytes;
  return { chunk: { ...chunk }, ...places, lengthBytes, largestBytes, startNs, endNs, isInOrder };
}

/** Whether other readers are sure to read the chunk as we do, and a written file may have such a chunk. */
function mayPass({ chunk, head, bytes }: StoredChunk, tallied: TalliedChunk): boolean {
  const { isInOrder, hasTrueIndexes, isPlain, messageCount, channels } = tallied;
  if (head.isMended || !isInOrder || !hasTrueIndexes || !isPlain || !passable.has(chunk.compression)) return false;
  const isSmall = chunk.uncompressedBytes <= MAX_WRITTEN_CHUNK_BYTES || messageCount === 1;
  const { startNs, endNs } = spanOfChannels(channels);
  const isTrue = chunk.startNs === startNs && chunk.endNs === endNs;
  const start = chunk.dataOffset - chunk.offset;
  const recordBytes = head.end - head.offset;
  const isWhole = start + chunk.storedBytes === recordBytes && RECORD_HEAD_BYTES + head.contentBytes === recordBytes;
  if (!isSmall || !isTrue || !isWhole) return false;
  return bytes ? isOneFrame(chunk.compression, bytes.subarray(start, start + chunk.storedBytes)) : tallied.isOneFrame;
}

const passable: ReadonlySet<string> = new Set(["", "lz4", "zstd"]);

/** CRC-32 of the whole record. Uncompressed content was summed already when it was compared with the checksum that the chunk gives. */
function checksumOfHeld({ head, chunk }: StoredChunk, bytes: Uint8Array, contentCrc: number | undefined): number {
  const record = bytes.subarray(0, head.end - head.offset);
  if (contentCrc === undefined || !isPlain(chunk.compression)) return crc32(record);
  const dataStart = chunk.dataOffset - head.offset;
  const withContent = combineChecksums(crc32(record.subarray(0, dataStart)), contentCrc, chunk.storedBytes);
  return crc32(record.subarray(dataStart + chunk.storedBytes), withContent);
}

async function checksumOf({ offset, end }: RecordHead, { context: { source } }: Verifying): Promise<number> {
  let crc = 0;
  for (let at = offset; at < end; at += PIECE_BYTES) {
    const piece = await source.read(at, Math.min(PIECE_BYTES, end - at));
    crc = crc32(piece, crc);
    freeOwn(piece);
  }
  return crc;
}

const PIECE_BYTES = 1024 * 1024;
