import { createZstdCompress } from "node:zlib";
import { asBuffer } from "../memory/as-buffer.ts";
import { freeOwn } from "../memory/free-memory.ts";
import { type Compression, zstdParams } from "./compress.ts";
import { feedStream } from "./feed-stream.ts";
import { loadLz4 } from "./load-lz4.ts";
import { nextRound } from "./one-by-one.ts";

/**
 * Compresses content that comes in pieces to one frame, in short turns. It answers pieces of at most some megabytes, each with memory of
 * its own. The same content gives the same frame, whatever the pieces are.
 */
export async function* compressPieces(
  compression: Compression,
  pieces: AsyncIterable<Uint8Array>,
  sizeBytes: number,
): AsyncGenerator<Uint8Array> {
  const blocks = inBlocks(pieces);
  if (compression === "zstd") yield* zstdPieces(blocks, sizeBytes);
  else if (compression === "lz4") yield* lz4Pieces(blocks);
  else yield* blocks;
}

const BLOCK_BYTES = 1024 * 1024;

/** Cuts the content into blocks of exactly a megabyte, except for the last. */
async function* inBlocks(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  let filledBytes = 0;
  for await (const piece of pieces) {
    const { byteLength } = piece;
    for (let at = 0; at < byteLength; ) {
      const bytes = Math.min(BLOCK_BYTES - filledBytes, byteLength - at);
      block.set(piece.subarray(at, at + bytes), filledBytes);
      filledBytes += bytes;
      at += bytes;
      if (filledBytes < BLOCK_BYTES) continue;
      yield block;
      block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
      filledBytes = 0;
    }
    freeOwn(piece);
  }
  if (filledBytes > 0) yield new Uint8Array(block.subarray(0, filledBytes));
}

async function* zstdPieces(blocks: AsyncIterable<Uint8Array>, sizeBytes: number): AsyncGenerator<Uint8Array> {
  const encoder = createZstdCompress({ params: zstdParams, pledgedSrcSize: sizeBytes, chunkSize: BLOCK_BYTES });
  for await (const piece of feedStream(blocks, encoder)) yield new Uint8Array(piece);
}

/** The head says: blocks of at most a megabyte that do not refer to each other, no checksums. spec: LZ4 frame format 1.6 */
const lz4Head = Uint8Array.of(0x04, 0x22, 0x4d, 0x18, 0x60, 0x60, 0x51);
const IS_STORED = 0x80000000;

async function* lz4Pieces(blocks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield new Uint8Array(lz4Head);
  for await (const block of blocks) {
    // The library writes the size of the content before the block. The call takes a millisecond; the asynchronous one keeps its memory for
    // long.
    await nextRound();
    const compressed = loadLz4().compressSync(asBuffer(block)).subarray(4);
    const isSmaller = compressed.byteLength < block.byteLength;
    const stored = isSmaller ? compressed : block;
    const piece = Buffer.allocUnsafeSlow(4 + stored.byteLength);
    piece.writeUInt32LE(isSmaller ? stored.byteLength : stored.byteLength + IS_STORED, 0);
    piece.set(stored, 4);
    freeOwn(block);
    yield piece;
  }
  yield new Uint8Array(4);
}
