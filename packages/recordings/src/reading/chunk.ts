import { crc32 } from "node:zlib";
import { RecordingError } from "../faults/reasons.ts";
import { freeOwn } from "../memory/free-memory.ts";
import type { ReadContext } from "./read-context.ts";
import { streamRange } from "./stream-range.ts";
import { readRange, refuseBeyond } from "./window-reader.ts";

/** A compressed run of records inside a file, of any format. */
export interface ChunkHeader {
  /** Where the chunk's record begins in the file. */
  offset: number;
  /** Where its compressed bytes begin in the file. */
  readonly dataOffset: number;
  readonly storedBytes: number;
  readonly uncompressedBytes: number;
  readonly compression: string;
  /** CRC-32 of the uncompressed bytes; 0 if the chunk does not give it. */
  readonly crc: number;
}

/** To be called before anything is allocated for a chunk. */
export function refuseLargeChunk(chunk: ChunkHeader, maxChunkBytes: number): void {
  const bytes = Math.max(chunk.storedBytes, chunk.uncompressedBytes);
  if (bytes <= maxChunkBytes) return;
  const text = `${placeOf(chunk)} is ${bytes} bytes large; at most ${maxChunkBytes} are read. Record with smaller chunks`;
  throw new RecordingError("ChunkTooLarge", text);
}

/** Reads the chunk's records, decompressed and compared with its header. */
export async function loadChunk(chunk: ChunkHeader, context: ReadContext): Promise<Uint8Array> {
  const bytes = await loadUnchecked(chunk, context);
  if (chunk.crc !== 0 && crc32(bytes) !== chunk.crc) throw failsChecksum(chunk);
  return bytes;
}

async function loadUnchecked(chunk: ChunkHeader, context: ReadContext): Promise<Uint8Array> {
  const { source, limits, signal, decompress } = context;
  signal?.throwIfAborted();
  refuseLargeChunk(chunk, limits.maxChunkBytes);
  refuseBeyond({ offset: chunk.dataOffset, length: chunk.storedBytes, sizeBytes: source.sizeBytes });
  const stored = await readRange(context, chunk.dataOffset, chunk.storedBytes);
  const { compression, uncompressedBytes } = chunk;
  return decompress.whole({ compression, bytes: stored, uncompressedBytes, place: placeOf(chunk) });
}

/**
 * Reads the chunk's records in pieces of some megabytes at most, and compares them with its header when the last was given: a chunk that
 * fails its checksum may be the only one that says what the messages of the others are. Throws `ChunkTooLarge` if more than `maxDecodedBytes`
 * would have to be held at once.
 */
export async function* streamChunk(chunk: ChunkHeader, context: ReadContext): AsyncGenerator<Uint8Array> {
  const { source, limits, decompress } = context;
  refuseLargeChunk(chunk, limits.maxChunkBytes);
  refuseBeyond({ offset: chunk.dataOffset, length: chunk.storedBytes, sizeBytes: source.sizeBytes });
  if (Math.max(chunk.storedBytes, chunk.uncompressedBytes) <= SMALL_CHUNK_BYTES) {
    const bytes = await loadUnchecked(chunk, context);
    const isSame = chunk.crc === 0 || crc32(bytes) === chunk.crc;
    yield bytes;
    if (isSame) return;
    throw failsChecksum(chunk);
  }
  const { compression, uncompressedBytes, storedBytes } = chunk;
  const pieces = streamRange(context, chunk.dataOffset, chunk.storedBytes);
  const bounds = { uncompressedBytes, storedBytes, mostBytes: limits.maxDecodedBytes };
  const input = { compression, ...bounds, place: placeOf(chunk), pieces };
  let crc = 0;
  for await (const piece of decompress.inPieces(input)) {
    if (chunk.crc !== 0) crc = crc32(piece, crc);
    yield piece;
    freeOwn(piece);
  }
  if (crc !== chunk.crc) throw failsChecksum(chunk);
}

/** Chunks up to this size are decompressed at once, because the pieces of a stream cost more. */
const SMALL_CHUNK_BYTES = 4 * 1024 * 1024;

function failsChecksum(chunk: ChunkHeader): RecordingError {
  return new RecordingError("BadChunk", `${placeOf(chunk)} fails its checksum; the file is damaged there`);
}

export function placeOf(chunk: ChunkHeader): string {
  return `the chunk at byte ${chunk.offset}`;
}
