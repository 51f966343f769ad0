import { RecordingError } from "../../faults/reasons.ts";
import { asBuffer } from "../../memory/as-buffer.ts";
import { type ChunkHeader, placeOf, refuseLargeChunk } from "../../reading/chunk.ts";
import type { ReadContext } from "../../reading/read-context.ts";
import type { WindowReader } from "../../reading/window-reader.ts";
import { BLOCK, BLOCK_HEAD_BYTES, END, toyMagic } from "./toy-layout.ts";

export interface ToyBlock {
  readonly chunk: ChunkHeader;
  /** The block as it is stored, with its head. */
  readonly record: Uint8Array;
  /** Its records, decompressed. */
  readonly bytes: Uint8Array;
}

/** Reads blocks from the beginning of a file up to its end. Throws at the first one that makes no sense. */
export async function* blocksOf(reader: Pick<WindowReader, "fetch">, context: ReadContext): AsyncGenerator<ToyBlock> {
  let offset = toyMagic.byteLength;
  while (asBuffer(await reader.fetch(offset, 1))[0] !== END) {
    const head = asBuffer(await reader.fetch(offset, BLOCK_HEAD_BYTES));
    if (head[0] !== BLOCK) throw new RecordingError("BadRecord", `no block begins at byte ${offset}`);
    const [storedBytes, uncompressedBytes] = [head.readUInt32LE(2), head.readUInt32LE(6)];
    const compression = head[1] === 1 ? "zstd" : "";
    const dataOffset = offset + BLOCK_HEAD_BYTES;
    const chunk = { offset, dataOffset, storedBytes, uncompressedBytes, compression, crc: 0 };
    refuseLargeChunk(chunk, context.limits.maxChunkBytes);
    const record = await reader.fetch(offset, BLOCK_HEAD_BYTES + storedBytes);
    const stored = { bytes: record.subarray(BLOCK_HEAD_BYTES), compression, uncompressedBytes, place: placeOf(chunk) };
    yield { chunk, record, bytes: await context.decompress.whole(stored) };
    offset = dataOffset + storedBytes;
  }
}
