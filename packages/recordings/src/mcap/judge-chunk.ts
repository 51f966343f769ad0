import { crc32 } from "node:zlib";
import { RecordingError } from "../faults/reasons.ts";
import { freeOwn } from "../memory/free-memory.ts";
import { type Beginning, findBeginning } from "../reading/begun-chunk.ts";
import { placeOf } from "../reading/chunk.ts";
import type { ReadContext } from "../reading/read-context.ts";
import { streamRange } from "../reading/stream-range.ts";
import type { WindowReader } from "../reading/window-reader.ts";
import { hasChannel, type Survey } from "../survey/survey.ts";
import { LEAST_CHUNK_BYTES, magic, opcodes, RECORD_HEAD_BYTES } from "./opcodes.ts";
import type { RecordHead } from "./record-head.ts";
import { seeMcapRecords } from "./see-mcap-record.ts";
import type { McapChunk } from "./walk-mcap.ts";

/** The judgement that the survey and the salvage of a damaged file share. */
export interface DamagedReading {
  readonly context: ReadContext;
  readonly reader: WindowReader;
  readonly survey: Survey;
}

/** The readable part of a chunk whose record does not make sense: all of it, or its beginning. */
export type JudgedChunk = { readonly kind: "chunk"; readonly head: RecordHead } | BegunChunk;

export interface BegunChunk {
  readonly kind: "begun";
  readonly beginning: Beginning<McapChunk>;
  /** It is all that the chunk holds, by its checksum or its last byte, and only what the chunk says of itself is damaged. */
  readonly isConfirmed?: boolean;
}

/** Reads the head of the chunk at a place, whatever the length of its record is. Answers undefined if no chunk's head stands there. */
export async function readChunkAt(offset: number, { context, reader }: DamagedReading): Promise<McapChunk | undefined> {
  const lengthBytes = Math.min(CHUNK_START_BYTES, context.source.sizeBytes - offset);
  if (lengthBytes < LEAST_CHUNK_BYTES) return undefined;
  const bytes = await reader.fetch(offset, lengthBytes);
  return parseChunkAt(bytes, offset);
}

/** `bytes` begin with a chunk's record. Sizes that are not written yet, all ones, are beyond every file. */
export function parseChunkAt(bytes: Uint8Array, offset: number): McapChunk | undefined {
  if (bytes[0] !== opcodes.chunk) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const nameBytes = view.getUint32(NAME_AT, true);
  const dataAt = NAME_AT + 4 + nameBytes + 8;
  if (nameBytes > MOST_NAME_BYTES || dataAt > bytes.byteLength) return undefined;
  const compression = Buffer.from(bytes.subarray(NAME_AT + 4, NAME_AT + 4 + nameBytes)).toString("latin1");
  if (!readable.has(compression)) return undefined;
  return {
    offset,
    startNs: view.getBigUint64(RECORD_HEAD_BYTES, true),
    endNs: view.getBigUint64(RECORD_HEAD_BYTES + 8, true),
    uncompressedBytes: Number(view.getBigUint64(RECORD_HEAD_BYTES + 16, true)),
    crc: view.getUint32(RECORD_HEAD_BYTES + 24, true),
    compression,
    storedBytes: Number(view.getBigUint64(dataAt - 8, true)),
    dataOffset: offset + dataAt,
  };
}

const readable: ReadonlySet<string> = new Set(["", "none", "lz4", "zstd"]);
const MOST_NAME_BYTES = 4;
/** The name of the compression stands behind times, sizes and checksum. */
const NAME_AT = RECORD_HEAD_BYTES + 8 + 8 + 8 + 4;
const CHUNK_START_BYTES = LEAST_CHUNK_BYTES + MOST_NAME_BYTES;

/**
 * Judges a chunk by its own sizes: it is whole if it decompresses to what its checksum says, or, without one, to records that make sense up
 * to its last byte, also if that is not where its size says. If it is not, and the file or `limit` ends in it, or nothing says what it should
 * hold, its beginning is taken. If there is a checksum, it must be that of the beginning.
 */
export async function judgeChunk(
  chunk: McapChunk,
  reading: DamagedReading,
  limit: number = reading.context.source.sizeBytes,
): Promise<JudgedChunk | undefined> {
  const { dataOffset, storedBytes, uncompressedBytes, crc } = chunk;
  const end = dataOffset + storedBytes;
  const { limits, source } = reading.context;
  const { maxChunkBytes } = limits;
  const isStored = storedBytes > 0 && end <= limit && storedBytes <= maxChunkBytes;
  const isInside = isStored && uncompressedBytes <= maxChunkBytes;
  const whole = isStored ? await judgeWhole(chunk, reading, end) : undefined;
  if (whole || (isInside && crc !== 0)) return whole;
  const isEndKnown = limit < source.sizeBytes && crc !== 0;
  const confirmed = !isStored && isEndKnown ? await judgeByChecksum(chunk, reading, limit) : undefined;
  if (confirmed) return confirmed;
  const beginning = await findSense(chunk, reading, {
    limit: isInside ? end : limit,
    isKnown: (channelId) => hasChannel(reading.survey, channelId),
  });
  return beginning && { kind: "begun", beginning };
}

/**
 * Judges a chunk that could not be read as a whole although its record makes sense. If its content is whole by its sizes or its checksum all
 * the same, its compressed frame has damaged checksums of its own: the blocks of the frame are taken without looking at those.
 */
export async function judgeRefused(
  chunk: McapChunk,
  reading: DamagedReading,
  limit: number,
): Promise<BegunChunk | undefined> {
  const judged = await judgeChunk(chunk, reading, limit);
  if (judged?.kind !== "chunk") return judged;
  const { end } = judged.head;
  if (chunk.crc !== 0) return judgeByChecksum(chunk, reading, end);
  const beginning = await findSense(chunk, reading, { limit: end, isKnown: () => true });
  return beginning && { kind: "begun", beginning };
}

/** Judges a chunk that ends at `end` by what it holds as a whole. */
async function judgeWhole(chunk: McapChunk, reading: DamagedReading, end: number): Promise<JudgedChunk | undefined> {
  if (chunk.crc !== 0) {
    const isReadable = chunk.uncompressedBytes <= reading.context.limits.maxChunkBytes;
    const isWhole = isReadable && (await hasChecksum(chunk, chunk.crc, reading));
    return isWhole ? toWhole(chunk, end) : judgeByChecksum(chunk, reading, end);
  }
  const beginning = await findSense(chunk, reading, { limit: end, isKnown: () => true });
  if (beginning?.chunk.uncompressedBytes === chunk.uncompressedBytes) return toWhole(chunk, end);
  return beginning?.isAll ? { kind: "begun", beginning, isConfirmed: true } : undefined;
}

function toWhole({ offset }: McapChunk, end: number): JudgedChunk {
  const contentOffset = offset + RECORD_HEAD_BYTES;
  const head = { opcode: opcodes.chunk, offset, contentOffset, contentBytes: end - contentOffset, end, isMended: true };
  return { kind: "chunk", head };
}

/** Judges a chunk by its checksum alone: its sizes cannot be true, or its frame is damaged. */
async function judgeByChecksum(
  chunk: McapChunk,
  reading: DamagedReading,
  limit: number,
): Promise<BegunChunk | undefined> {
  const beginning = await findSense(chunk, reading, { limit, isKnown: () => true, takesOthers: true });
  if (!beginning || !(await hasChecksum(beginning.chunk, chunk.crc, reading))) return undefined;
  return {
    kind: "begun",
    beginning: { ...beginning, chunk: { ...beginning.chunk, crc: chunk.crc } },
    isConfirmed: true,
  };
}

interface Sense {
  readonly limit: number;
  readonly isKnown: (channelId: number) => boolean;
  /** The chunk's checksum will judge records of other types. */
  readonly takesOthers?: boolean;
}

/** Reads a chunk as far as its records make sense. */
export function findSense(
  chunk: McapChunk,
  { context, survey }: DamagedReading,
  { limit, isKnown, takesOthers = false }: Sense,
) {
  const see = seeMcapRecords(isKnown, { ...context.limits, takesOthers });
  return findBeginning(chunk, { context, see, limit, magic, span: { startNs: survey.startNs, endNs: survey.endNs } });
}

/** Answers false also if the chunk cannot be decompressed. */
async function hasChecksum(chunk: McapChunk, crc: number, { context }: DamagedReading): Promise<boolean> {
  try {
    return (await checksumOf(chunk, context)) === crc;
  } catch (error) {
    if (error instanceof RecordingError) return false;
    throw error;
  }
}

async function checksumOf(chunk: McapChunk, context: ReadContext): Promise<number> {
  const { compression, uncompressedBytes, storedBytes, dataOffset } = chunk;
  const pieces = streamRange(context, dataOffset, storedBytes);
  const mostBytes = context.limits.maxDecodedBytes;
  const input = { compression, pieces, storedBytes, uncompressedBytes, mostBytes, place: placeOf(chunk) };
  let crc = 0;
  for await (const piece of context.decompress.inPieces(input)) {
    crc = crc32(piece, crc);
    freeOwn(piece);
  }
  return crc;
}
