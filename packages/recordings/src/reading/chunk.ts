import { crc32 } from "node:zlib";
import { RecordingFault } from "../faults/reasons.ts";
import { freeOwn } from "../memory/free-memory.ts";
import type { ReadContext } from "./read-context.ts";
import { streamRange } from "./stream-range.ts";
import { readRange, refuseBeyond } from "./window-reader.ts";

/** A compressed run of records inside a file, of either format. */
export interface ChunkHeader {
  /** Of the chunk's record. */
  offset: number;
  /** Of its compressed bytes. */
  readonly dataOffset: number;
  readonly storedBytes: number;
  readonly uncompressedBytes: number;
  readonly compression: string;
  /** CRC-32 of the uncompressed bytes; 0: not given. */
  readonly crc: number;
}

/** Call before allocating anything for a chunk. */
export function refuseLargeChunk(chunk: ChunkHeader, maxChunkBytes: number): void {
  const bytes = Math.max(chunk.storedBytes, chunk.uncompressedBytes);
  if (bytes <= maxChunkBytes) return;
  const text = `${placeOf(chunk)} is ${bytes} bytes large; at most ${maxChunkBytes} are read. Record with smaller chunks`;
  throw new RecordingFault("ChunkTooLarge", text);
}

/** The chunk's records, decompressed and checked against its header. */
export async function loadChunk(chunk: ChunkHeader, context: ReadContext): Promise<Uint8Array> {
  const { source, limits, signal, decompress } = context;
  signal?.throwIfAborted();
  refuseLargeChunk(chunk, limits.maxChunkBytes);
  refuseBeyond({ offset: chunk.dataOffset, length: chunk.storedBytes, sizeBytes: source.sizeBytes });
  const stored = await readRange(context, chunk.dataOffset, chunk.storedBytes);
  const { compression, uncompressedBytes } = chunk;
  const bytes = await decompress.whole({ compression, bytes: stored, uncompressedBytes, place: placeOf(chunk) });
  if (chunk.crc !== 0 && crc32(bytes) !== chunk.crc) throw failsChecksum(chunk);
  return bytes;
}

/**
 * The chunk's records in pieces of some megabytes at most, checked against its header when the last was given. Faults with `ChunkTooLarge`
 * where more than `maxDecodedBytes` would have to be held at once.
 */
export async function* streamChunk(chunk: ChunkHeader, context: ReadContext): AsyncGenerator<Uint8Array> {
  const { source, limits, decompress } = context;
  refuseLargeChunk(chunk, limits.maxChunkBytes);
  refuseBeyond({ offset: chunk.dataOffset, length: chunk.storedBytes, sizeBytes: source.sizeBytes });
  if (Math.max(chunk.storedBytes, chunk.uncompressedBytes) <= smallChunkBytes) {
    yield await loadChunk(chunk, context);
    return;
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

/** Decompressed at once: the pieces of a stream cost more. */
const smallChunkBytes = 4 * 1024 * 1024;

function failsChecksum(chunk: ChunkHeader): RecordingFault {
  return new RecordingFault("BadChunk", `${placeOf(chunk)} fails its checksum; the file is damaged there`);
}

export function placeOf(chunk: ChunkHeader): string {
  return `the chunk at byte ${chunk.offset}`;
}
