import { asBuffer } from "../memory/as-buffer.ts";
import { type DamagedReading, parseChunkAt } from "./judge-chunk.ts";
import { type LoosePlace, loosePlacesIn } from "./loose-places.ts";
import { hasFileStart } from "./mcap-end.ts";
import { LEAST_CHUNK_BYTES, magic, opcodes, RECORD_HEAD_BYTES } from "./opcodes.ts";
import type { McapChunk } from "./walk-mcap.ts";

/** A place where something may make sense again: another file begins there if it is neither a chunk nor a loose record. */
export interface Lookalike {
  readonly offset: number;
  readonly chunk?: McapChunk;
  readonly loose?: LoosePlace;
}

/**
 * The places where a chunk's head may stand, where loose records may begin, and where another file begins, in the order of the file. The
 * first piece is small, because what makes sense again is often near, and a file may be damaged in a million places.
 */
export async function* lookalikes(
  reading: DamagedReading,
  { from, to }: { from: number; to: number },
): AsyncGenerator<Lookalike> {
  const { sizeBytes } = reading.context.source;
  let pieceBytes = FIRST_PIECE_BYTES;
  for (let at = from; at < to; ) {
    const bytes = await reading.reader.fetch(at, Math.min(pieceBytes + OVERLAP_BYTES, sizeBytes - at));
    yield* placesIn(bytes, { at, count: Math.min(pieceBytes, to - at) }, reading);
    at += pieceBytes;
    pieceBytes = Math.min(2 * pieceBytes, PIECE_BYTES);
  }
}

/** The places are listed at once, because bytes that were fetched are valid only until the next are. */
function placesIn(
  bytes: Uint8Array,
  { at, count }: { at: number; count: number },
  reading: DamagedReading,
): Lookalike[] {
  const { sizeBytes } = reading.context.source;
  const piece = asBuffer(bytes);
  const places: Lookalike[] = loosePlacesIn(piece, { at, count }, reading).map((loose) => ({
    offset: loose.offset,
    loose,
  }));
  for (
    let found = piece.indexOf(opcodes.chunk);
    found >= 0 && found < count;
    found = piece.indexOf(opcodes.chunk, found + 1)
  ) {
    if (found + LEAST_CHUNK_BYTES > piece.byteLength) break;
    const chunk = parseChunkAt(piece.subarray(found, found + OVERLAP_BYTES), at + found);
    if (chunk && mayBeChunk(chunk, piece.readBigUInt64LE(found + 1), sizeBytes))
      places.push({ offset: at + found, chunk });
  }
  for (let found = piece.indexOf(magicBytes); found >= 0 && found < count; found = piece.indexOf(magicBytes, found + 1))
    if (hasFileStart(piece, found)) places.push({ offset: at + found });
  return places.sort((a, b) => a.offset - b.offset);
}

/** The length of the record may be damaged; its own sizes must then be those of a chunk that fits, or not be written yet. */
function mayBeChunk(chunk: McapChunk, contentBytes: bigint, sizeBytes: number): boolean {
  const { offset, storedBytes, uncompressedBytes, dataOffset, compression } = chunk;
  if (storedBytes === 0 || uncompressedBytes === 0) return false;
  const isFramed = Number(contentBytes) + offset + RECORD_HEAD_BYTES <= sizeBytes;
  const fits = dataOffset + storedBytes <= sizeBytes;
  const areEqual = compression !== "" || storedBytes === uncompressedBytes;
  return areEqual && (isFramed || fits || contentBytes === UNWRITTEN || Number(contentBytes) >= storedBytes);
}

/** Recorders write so before they know a length. */
const UNWRITTEN = 2n ** 64n - 1n;

const magicBytes = Buffer.from(magic);
/** A chunk's head, or a magic with the head of a header. */
const OVERLAP_BYTES = 64;
const FIRST_PIECE_BYTES = 512;
export const PIECE_BYTES: number = 1024 * 1024;
