import { type BegunCompression, begunNames, decodeBeginning, isBegun } from "../codecs/begun-frames.ts";
import { isPlain } from "../codecs/decompress.ts";
import { RecordingError } from "../faults/reasons.ts";
import { asBuffer } from "../memory/as-buffer.ts";
import { freeOwn } from "../memory/free-memory.ts";
import type { ChunkHeader } from "./chunk.ts";
import type { ReadContext } from "./read-context.ts";
import { createRecordPieces } from "./record-pieces.ts";
import { streamRange } from "./stream-range.ts";

/*
 * A recorder that is killed leaves a chunk in progress, and damage without a checksum leaves one that is sound up to a place. Both are read
 * as far as their records make sense. The survey and the verified index judge by this file, so that neither refuses what the other gives.
 */

/** One record among those of a chunk, or how many of its bytes must be seen before it can be judged. */
export type SeenRecord =
  | { readonly wantedBytes: number }
  /** `timeNs` is absent if the record is no message. */
  | { readonly recordBytes: number; readonly timeNs?: bigint };

/** Looks at the record at `at`. Throws a `RecordingError` if it makes no sense. It may note what the record introduces. */
export type SeeRecord = (bytes: Uint8Array, at: number) => SeenRecord;

export interface Span {
  readonly startNs?: bigint | undefined;
  readonly endNs?: bigint | undefined;
}

export interface Beginning<C extends ChunkHeader = ChunkHeader> {
  /** The chunk as far as it makes sense. Its sizes are true. */
  readonly chunk: C;
  readonly messageCount: number;
  /** Where the bytes of the file end that were understood. */
  readonly end: number;
  /** Where, not compressed, the last record begins that was taken: if its length is damaged it covers others. Else where the chunk does. */
  readonly lastStart: number;
  /** Whether a record ends with the last byte of the chunk: what is no records seldom does. */
  readonly isAll: boolean;
}

export interface BeginningReading {
  readonly context: ReadContext;
  readonly see: SeeRecord;
  /** The times of what is known of the file. */
  readonly span: Span;
  /** The bytes of the chunk end here at the latest. */
  readonly limit: number;
  /** Bytes with which another file begins: the last message that was cut off seems to go on in it. */
  readonly magic: Uint8Array;
}

/**
 * Reads a chunk, whatever its lengths say, as far as its records make sense. Answers undefined if that is not one message. At most the
 * largest chunk that is read at all is looked at.
 */
export async function findBeginning<C extends ChunkHeader>(
  chunk: C,
  reading: BeginningReading,
): Promise<Beginning<C> | undefined> {
  const { context, limit } = reading;
  const { maxChunkBytes } = context.limits;
  const compression = begunNameOf(chunk.compression);
  const storedBytes = Math.min(limit - chunk.dataOffset, compression === "bz2" ? MOST_BZIP2_BYTES : maxChunkBytes);
  if (storedBytes <= 0 || compression === undefined) return undefined;
  const sense = createRecordSense(reading);
  let takenBytes = 0;
  const stored = streamRange(context, chunk.dataOffset, storedBytes);
  const mostBytes = Math.min(context.limits.maxDecodedBytes, MOST_WINDOW_BYTES);
  const onBlock = (bytes: number): void => {
    takenBytes = bytes;
  };
  const pieces = decodePieces(stored, { compression, mostBytes, onBlock, context });
  for await (const piece of pieces) {
    const isSane = sense.push(piece);
    freeOwn(piece);
    if (!isSane || sense.bytes > maxChunkBytes) break;
  }
  const ended = sense.end();
  const { end, messageCount } =
    isPlain(compression) && (await holdsMagic(chunk, ended, reading)) ? ended.before : ended;
  if (messageCount === 0) return undefined;
  const usedBytes = isPlain(compression) ? end : takenBytes;
  const begun = { ...chunk, compression, crc: 0, storedBytes: usedBytes, uncompressedBytes: end };
  const [lastStart, usedEnd] = [
    chunk.dataOffset + (isPlain(compression) ? ended.before.end : 0),
    chunk.dataOffset + usedBytes,
  ];
  const isAll = end === sense.bytes && storedBytes - usedBytes <= MOST_TRAILER_BYTES;
  return { chunk: begun, messageCount, end: usedEnd, lastStart, isAll };
}

interface Decoding {
  readonly compression: BegunName;
  readonly mostBytes: number;
  /** Gets how many of the bytes were taken when something was decompressed. */
  readonly onBlock?: (takenBytes: number) => void;
  readonly context: ReadContext;
}

/** Decompresses what can be had from a beginning on. bzip2 gives all of its stream or nothing. */
export async function* decodePieces(
  stored: AsyncIterable<Uint8Array>,
  { compression, mostBytes, onBlock, context }: Decoding,
): AsyncGenerator<Uint8Array> {
  if (isPlain(compression)) return yield* stored;
  if (compression !== "bz2")
    return yield* decodeBeginning(compression, stored, { mostBytes, ...(onBlock && { onBlock }) });
  const bytes = Buffer.concat(await Array.fromAsync(stored));
  const content = await context.decompress.bzip2Stream(bytes, Math.min(mostBytes, MOST_BZIP2_BYTES));
  if (!content) return;
  onBlock?.(bytes.byteLength);
  yield content;
}

/** rosbag writes chunks of 768 KiB. */
const MOST_BZIP2_BYTES = 16 * 1024 * 1024;

/** An end mark and a checksum stand behind the last block of a frame. */
const MOST_TRAILER_BYTES = 8;

/** Whether another file begins inside the last record, also if its magic ends behind it. */
async function holdsMagic(
  { dataOffset }: ChunkHeader,
  { end, before }: SaneRecords & { before: SaneRecords },
  { context: { source }, magic }: BeginningReading,
): Promise<boolean> {
  const from = dataOffset + before.end;
  const to = Math.min(dataOffset + end + magic.byteLength - 1, from + MOST_SEARCHED_BYTES, source.sizeBytes);
  return end > before.end && asBuffer(await source.read(from, to - from)).includes(asBuffer(magic));
}

const MOST_SEARCHED_BYTES = 16 * 1024 * 1024;

/** The largest window that a decoder takes by itself. */
const MOST_WINDOW_BYTES = 128 * 1024 * 1024;

type BegunName = "" | "none" | "bz2" | BegunCompression;

export function begunNameOf(compression: string): BegunName | undefined {
  if (isPlain(compression) || isBegun(compression) || compression === "bz2") return compression;
  return compression === "lz4" || compression === "zstd" ? begunNames[compression] : undefined;
}

/** Where the records end that make sense, and how many messages they are. */
interface SaneRecords {
  readonly end: number;
  readonly messageCount: number;
}

interface Last {
  readonly start: number;
  readonly end: number;
  readonly isNear: boolean;
}

/**
 * Follows records while their heads make sense. A message far from the times of the file counts only if one that is near comes behind it:
 * what follows by chance is never so long.
 */
function createRecordSense({ see, span }: Pick<BeginningReading, "see" | "span">) {
  const times = createTimeSense(span);
  let [bytes, count] = [0, 0];
  let sane: SaneRecords = { end: 0, messageCount: 0 };
  let before = sane;
  let isSane = true;
  let last: Last | undefined;
  /** Takes what the last record and those before it are, now that the last is known to be whole. */
  const settle = (): void => {
    if (!last?.isNear || last.end === sane.end) return;
    before = sane;
    sane = { end: last.end, messageCount: count };
  };
  const pieces = createRecordPieces((piece, from, base) => {
    let at = from;
    while (at < piece.byteLength) {
      const seen = see(piece, at);
      if ("wantedBytes" in seen) return { at, wantedBytes: seen.wantedBytes };
      settle();
      const isNear = seen.timeNs === undefined || times.isNear(seen.timeNs);
      last = { start: base + at, end: base + at + seen.recordBytes, isNear };
      if (seen.timeNs !== undefined) count += 1;
      at += seen.recordBytes;
    }
    return { at, wantedBytes: 1 };
  });
  return {
    get bytes() {
      return bytes;
    },
    /** Answers false once nothing that follows can make sense. */
    push(piece: Uint8Array): boolean {
      bytes += piece.byteLength;
      try {
        pieces.push(piece);
      } catch (error) {
        if (!(error instanceof RecordingError)) throw error;
        settle();
        isSane = false;
      }
      return isSane;
    },
    /** `before`: without the last record. */
    end(): SaneRecords & { before: SaneRecords } {
      if (last && last.end <= bytes) settle();
      return { ...sane, before };
    },
  };
}

/** A recording lasts hours, and its clock may be set while it runs. */
const NEAR_NS = 7n * 24n * 3600n * 1_000_000_000n;

/** Whether a time is near those of the file. Nothing is far as long as none of them is known. */
export function isNearSpan(timeNs: bigint, { startNs, endNs }: Span): boolean {
  return startNs === undefined || endNs === undefined || (timeNs >= startNs - NEAR_NS && timeNs <= endNs + NEAR_NS);
}

/** Whether a time is near those of the file. As long as none is known the first messages say which times are. */
function createTimeSense({ startNs, endNs }: Span) {
  let from = startNs;
  let to = endNs;
  let seen = 0;
  return {
    isNear(timeNs: bigint): boolean {
      seen += 1;
      const isNear = from !== undefined && isNearSpan(timeNs, { startNs: from, endNs: to });
      const isGuess = startNs === undefined && seen <= 2;
      if (isNear && timeNs > to!) to = timeNs;
      if (isNear && timeNs < from!) from = timeNs;
      if (!isNear && isGuess) [from, to] = [timeNs, timeNs];
      return isNear || isGuess;
    },
  };
}
