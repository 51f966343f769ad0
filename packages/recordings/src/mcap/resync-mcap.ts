import { crc32 } from "node:zlib";
import { RecordingError } from "../faults/reasons.ts";
import { asBuffer } from "../memory/as-buffer.ts";
import type { Verifying } from "../verified/verifying.ts";
import { readMcapEnd } from "./mcap-end.ts";
import { FOOTER_BYTES, magic, opcodes, RECORD_HEAD_BYTES } from "./opcodes.ts";
import { openRecordStart, parseRecordHead } from "./record-head.ts";
import { readChunkHead } from "./records.ts";
import { readSummarySection } from "./summary-section.ts";

/**
 * Finds where records begin again behind a place that makes no sense: at the next chunk that the summary names, or that looks like one, if
 * it decompresses to what its checksum says. Answers undefined if there is none.
 */
export async function resyncMcap(verifying: Verifying, behind: number): Promise<number | undefined> {
  for (const offset of await indexedChunks(verifying, behind)) {
    if (await isSoundChunk(verifying, offset)) return offset;
  }
  for await (const offset of lookalikes(verifying, behind)) {
    if (await isSoundChunk(verifying, offset)) return offset;
  }
  return undefined;
}

/** The nearest chunks that the summary names. There are few, so that looking at each costs little if the summary lies. */
async function indexedChunks({ context }: Verifying, behind: number): Promise<number[]> {
  try {
    const end = await readMcapEnd(context.source, FOOTER_BYTES + magic.byteLength);
    const { chunks } = await readSummarySection(end, context, { wantsChunks: true });
    const offsets: number[] = [];
    for (const { offset } of chunks?.inOrder() ?? []) {
      if (offset > behind) offsets.push(offset);
      if (offsets.length === MOST_INDEXED) break;
    }
    return offsets;
  } catch (error) {
    if (error instanceof RecordingError) return [];
    throw error;
  }
}

const MOST_INDEXED = 16;

/** The places where a chunk's head may stand: its opcode, a length, and sizes that agree with it. */
async function* lookalikes({ context, reader }: Verifying, behind: number): AsyncGenerator<number> {
  const { sizeBytes } = context.source;
  for (let at = behind + 1; at + LEAST_CHUNK_BYTES <= sizeBytes; at += PIECE_BYTES) {
    const bytes = await reader.fetch(at, Math.min(PIECE_BYTES + LEAST_CHUNK_BYTES, sizeBytes - at));
    const piece = asBuffer(bytes);
    for (let found = piece.indexOf(opcodes.chunk); found >= 0; found = piece.indexOf(opcodes.chunk, found + 1)) {
      if (found >= PIECE_BYTES || found + LEAST_CHUNK_BYTES > piece.byteLength) break;
      if (mayBeChunk(piece, found, sizeBytes - at - found)) yield at + found;
    }
  }
}

/** The size of a chunk whose compression has an empty name. */
const LEAST_CHUNK_BYTES = RECORD_HEAD_BYTES + 8 + 8 + 8 + 4 + 4 + 8;
const PIECE_BYTES = 1024 * 1024;

function mayBeChunk(bytes: Buffer, at: number, leftBytes: number): boolean {
  const contentBytes = bytes.readUInt32LE(at + 1) + bytes.readUInt32LE(at + 5) * 2 ** 32;
  const nameBytes = bytes.readUInt32LE(at + RECORD_HEAD_BYTES + 28);
  return (
    nameBytes <= 4 &&
    contentBytes >= LEAST_CHUNK_BYTES - RECORD_HEAD_BYTES &&
    contentBytes + RECORD_HEAD_BYTES <= leftBytes
  );
}

async function isSoundChunk({ context, reader }: Verifying, offset: number): Promise<boolean> {
  const { source, decompress, limits } = context;
  try {
    const head = parseRecordHead(await reader.fetch(offset, RECORD_HEAD_BYTES), offset, source.sizeBytes);
    if (head.opcode !== opcodes.chunk) return false;
    const chunk = readChunkHead(await openRecordStart(head, reader, LEAST_CHUNK_BYTES + 64), head.contentOffset);
    const isPlausible = chunk.crc !== 0 && Math.max(chunk.storedBytes, chunk.uncompressedBytes) <= limits.maxChunkBytes;
    if (!isPlausible || chunk.dataOffset + chunk.storedBytes > head.end) return false;
    const bytes = await source.read(chunk.dataOffset, chunk.storedBytes);
    const { compression, uncompressedBytes } = chunk;
    let crc = 0;
    for await (const piece of decompress.inPieces({ compression, bytes, uncompressedBytes, place: "a chunk" }))
      crc = crc32(piece, crc);
    return crc === chunk.crc;
  } catch (error) {
    if (error instanceof RecordingError) return false;
    throw error;
  }
}
