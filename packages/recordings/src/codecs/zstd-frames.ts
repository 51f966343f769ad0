import { type Frame, findFrames } from "./find-frames.ts";
import {
  readZstdBlock,
  ZSTD_BLOCK_HEAD_BYTES,
  ZSTD_MAGIC,
  type ZstdBlock,
  zstdHeadBytes,
  zstdTrailerBytes,
} from "./zstd-format.ts";

export function findZstdFrames(bytes: Uint8Array): Frame[] {
  return findFrames(bytes, (view, start, magic) => {
    const end = magic === ZSTD_MAGIC ? findEnd(view, start) : undefined;
    return end === undefined ? undefined : { start, end };
  });
}

/** Walks the heads of the blocks. Answers undefined if the frame is not whole. */
function findEnd(view: DataView, start: number): number | undefined {
  for (const { end, isReserved, isLast } of blocksOf(view, start)) {
    if (isReserved) return undefined;
    if (!isLast) continue;
    const frameEnd = end + zstdTrailerBytes(view.getUint8(start + 4));
    return frameEnd <= view.byteLength ? frameEnd : undefined;
  }
  return undefined;
}

/**
 * Answers where the blocks end that are sure to hold the first `wantedBytes` of a whole frame of `contentBytes`. How much a block holds is
 * known only once it is decompressed, but the blocks behind it can hold no more than they have room for.
 */
export function endOfBlocks(frame: Uint8Array, wantedBytes: number, contentBytes: number): number | undefined {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  let roomBehind = 0;
  for (const { roomBytes } of blocksOf(view, 0)) roomBehind += roomBytes;
  for (const { end, roomBytes } of blocksOf(view, 0)) {
    roomBehind -= roomBytes;
    if (contentBytes - roomBehind >= wantedBytes) return end;
  }
  return undefined;
}

/** The blocks up to the last one, or up to where the bytes end. */
function* blocksOf(view: DataView, start: number): Generator<ZstdBlock & { end: number }> {
  for (let at = start + zstdHeadBytes(view.getUint8(start + 4)); at + ZSTD_BLOCK_HEAD_BYTES <= view.byteLength; ) {
    const block = readZstdBlock(view.getUint16(at, true) + view.getUint8(at + 2) * 2 ** 16);
    at += ZSTD_BLOCK_HEAD_BYTES + block.storedBytes;
    yield { ...block, end: at };
    if (block.isLast) return;
  }
}
