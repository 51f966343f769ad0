import { RecordingError } from "../faults/reasons.ts";
import type { ChunkHeader } from "../reading/chunk.ts";
import { copies } from "../verified/forward-reader.ts";
import type { Verifying } from "../verified/verifying.ts";
import { opcodes, RECORD_HEAD_BYTES } from "./opcodes.ts";
import { isRecordAt, openRecordStart, type RecordHead } from "./record-head.ts";
import { readChunkHead } from "./records.ts";
import { startsWithRecord } from "./swallowed-records.ts";
import type { McapChunk } from "./walk-mcap.ts";

/** A chunk with the message indexes behind it. */
export interface StoredChunk {
  readonly head: RecordHead;
  /** The statements of the chunk about itself. */
  readonly chunk: ChunkHeader & { readonly startNs: bigint; readonly endNs: bigint };
  /** Where the last of the message indexes behind it ends. */
  readonly end: number;
  /** The chunk's record, with some of what stands behind it. It is absent if the chunk is too large to be held. */
  readonly bytes: Uint8Array | undefined;
  /** The message indexes behind it. */
  readonly indexes: Uint8Array;
  /** It is the beginning of a chunk that is not whole. */
  readonly isBegun?: boolean;
}

/** No message index can stand behind `footerOffset`. */
export async function readStoredChunk(
  given: RecordHead,
  verifying: Verifying,
  footerOffset: number,
): Promise<StoredChunk> {
  const { reader, context } = verifying;
  const chunk = readChunkHead(await openRecordStart(given, reader, CHUNK_START_BYTES), given.contentOffset);
  chunk.offset = given.offset;
  const contentEnd = chunk.dataOffset + chunk.storedBytes;
  if (contentEnd > given.end) {
    const text = `the chunk at byte ${given.offset} says that its content is longer than itself`;
    throw new RecordingError("BadChunk", text);
  }
  const head = { ...given, end: await endOfRecord(given, contentEnd, verifying) };
  const lengthBytes = head.end - head.offset;
  const isHeld = lengthBytes <= context.limits.maxWholeBytes;
  let bytes: Uint8Array | undefined;
  const { indexes, covering } = await readIndexes(footerOffset - head.end, async (length) => {
    if (!isHeld) return context.source.read(head.end, length);
    bytes = await reader.fetch(head.offset, lengthBytes + length);
    return bytes.subarray(lengthBytes);
  });
  if (covering) await noteCovering({ offset: head.end + covering.at, end: head.end + covering.end }, verifying);
  return { head, chunk, end: head.end + indexes.byteLength, bytes, indexes };
}

/** The beginning of a chunk that is not whole, which has no message indexes. */
export async function openBeginning(
  chunk: McapChunk,
  { reader, context: { limits } }: Verifying,
): Promise<StoredChunk> {
  const { offset, dataOffset, storedBytes } = chunk;
  const contentOffset = offset + RECORD_HEAD_BYTES;
  const end = dataOffset + storedBytes;
  const head = { opcode: opcodes.chunk, offset, contentOffset, contentBytes: end - contentOffset, end };
  const bytes = end - offset <= limits.maxWholeBytes ? await reader.fetch(offset, end - offset) : undefined;
  return { head, chunk, end, bytes, indexes: new Uint8Array(0), isBegun: true };
}

/**
 * Answers the true end of a record whose known fields end at `fieldsEnd`. Throws if its length covers other records. A salvage reads those
 * records.
 */
export async function endOfRecord(
  { offset, end }: RecordHead,
  fieldsEnd: number,
  verifying: Verifying,
): Promise<number> {
  if (fieldsEnd === end) return end;
  const rest = await verifying.reader.fetch(fieldsEnd, Math.min(end - fieldsEnd, LOOKED_AT_BYTES));
  if (!startsWithRecord(rest)) return end;
  await noteCovering({ offset, end }, verifying);
  return fieldsEnd;
}

/** Throws; a salvage notes it, and where the record ends all the same: the records that it covers may end in one that makes no sense. */
async function noteCovering({ offset, end }: { offset: number; end: number }, verifying: Verifying): Promise<void> {
  const { isSalvage, damage, context } = verifying;
  const text = `the record at byte ${offset} says that it is longer than it is: other records stand there`;
  if (!isSalvage) throw new RecordingError("BadRecord", text);
  damage.addSummary(offset, { code: "BadRecord", text });
  if (await isRecordAt(end, context)) verifying.coveredEnd = end;
}

/** Enough bytes for the next record in most files. */
const LOOKED_AT_BYTES = 8 * 1024 * 1024;

const MOST_INDEX_BYTES = 64 * 1024 * 1024;

/**
 * Reads the message indexes at the beginning of what `read` gives; at most `availableBytes` are there. A chunk of 65,536 channels has as
 * many indexes, so they are read together. More than 64 MiB of indexes are not looked at. `covering` is the first index whose length
 * covers other records, by that length.
 */
async function readIndexes(
  availableBytes: number,
  read: (lengthBytes: number) => Promise<Uint8Array>,
): Promise<{ indexes: Uint8Array; covering: Covering | undefined }> {
  const mostBytes = Math.max(0, Math.min(availableBytes, MOST_INDEX_BYTES));
  for (let lengthBytes = FIRST_INDEX_BYTES; ; lengthBytes *= 8) {
    const bytes = await read(Math.min(lengthBytes, mostBytes));
    let end = 0;
    let covering: Covering | undefined;
    let isAll = false;
    while (!isAll && end + RECORD_HEAD_BYTES <= bytes.byteLength) {
      const index = lengthOfIndex(bytes.subarray(end));
      isAll = index === undefined;
      if (index === undefined || end + index.bytes > bytes.byteLength) break;
      if (index.coveredBytes > 0) covering ??= { at: end, end: end + index.bytes + index.coveredBytes };
      end += index.bytes;
    }
    if (isAll || bytes.byteLength === mostBytes) return { indexes: bytes.subarray(0, end), covering };
  }
}

interface Covering {
  readonly at: number;
  readonly end: number;
}

const FIRST_INDEX_BYTES = 64 * 1024;

/** Times, sizes, checksum and the two lengths, with room for the name of the compression. */
const CHUNK_START_BYTES = 8 + 8 + 8 + 4 + 4 + 8 + 64;

/**
 * Answers undefined if no message index begins there. Its length may be garbage: it is then far behind the file, or, if other records stand
 * behind the entries, it is mended.
 */
function lengthOfIndex(bytes: Uint8Array): { bytes: number; coveredBytes: number } | undefined {
  if (bytes[0] !== opcodes.messageIndex) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const recordBytes = RECORD_HEAD_BYTES + view.getUint32(1, true) + view.getUint32(5, true) * 2 ** 32;
  const isHeadThere = bytes.byteLength >= INDEX_HEAD_BYTES;
  const fieldsBytes = isHeadThere ? INDEX_HEAD_BYTES + view.getUint32(INDEX_HEAD_BYTES - 4, true) : recordBytes;
  const isMended = fieldsBytes < recordBytes && startsWithRecord(bytes.subarray(fieldsBytes, recordBytes));
  return isMended
    ? { bytes: fieldsBytes, coveredBytes: recordBytes - fieldsBytes }
    : { bytes: recordBytes, coveredBytes: 0 };
}

/** The channel and the size of the entries stand before them. */
const INDEX_HEAD_BYTES = RECORD_HEAD_BYTES + 2 + 4;

/** Decompresses the records of a chunk, a large chunk in several pieces. */
export async function* contentOf(
  { chunk, bytes }: StoredChunk,
  { context, reader }: Verifying,
  onFrames: (isOneFrame: boolean) => void,
): AsyncGenerator<Uint8Array> {
  const { compression, uncompressedBytes, storedBytes, dataOffset, offset } = chunk;
  const place = `the chunk at byte ${offset}`;
  if (!bytes && compression === "") {
    if (storedBytes === uncompressedBytes) return yield* reader.stream(dataOffset, storedBytes);
    const text = `${place} says that it holds ${uncompressedBytes} bytes, and holds ${storedBytes}`;
    throw new RecordingError("BadChunk", text);
  }
  const start = dataOffset - offset;
  const { leavesOut, maxDecodedBytes, maxWholeBytes } = context.limits;
  const most = leavesOut ? { mostBytes: maxDecodedBytes } : {};
  const input = { compression, uncompressedBytes, storedBytes, place, onFrames, ...most };
  if (!bytes)
    return yield* context.decompress.inPieces({ ...input, pieces: copies(reader.stream(dataOffset, storedBytes)) });
  const stored = bytes.subarray(start, start + storedBytes);
  if (uncompressedBytes <= maxWholeBytes) yield await context.decompress.whole({ ...input, bytes: stored });
  else yield* context.decompress.inPieces({ ...input, pieces: onePiece(stored) });
}

/** Gives the bytes as a view, because the decoder must not give back memory that the reader holds. */
async function* onePiece(stored: Uint8Array): AsyncGenerator<Uint8Array> {
  yield stored;
}
