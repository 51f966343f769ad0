import { isSkippable } from "./lz4-frames.ts";

/** One frame among compressed bytes. */
export interface ZstdFrame {
  start: number;
  end: number;
}

/**
 * The frames that stand one behind the other; what follows the last and is none is left out. Needed because the decoder ends at the end of
 * the first. spec: RFC 8878 §3.1
 */
export function findZstdFrames(bytes: Uint8Array): ZstdFrame[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const frames: ZstdFrame[] = [];
  for (let at = 0; at + 8 <= bytes.byteLength; ) {
    const magic = view.getUint32(at, true);
    if (isSkippable(magic)) {
      at += 8 + view.getUint32(at + 4, true);
      continue;
    }
    const end = magic === frameMagic ? findEnd(view, at) : undefined;
    if (end === undefined) break;
    frames.push({ start: at, end });
    at = end;
  }
  return frames;
}

const frameMagic = 0xfd2fb528;

/** Walks the heads of the blocks; undefined where the frame is not whole. */
function findEnd(view: DataView, start: number): number | undefined {
  for (let at = blocksStartOf(view, start); at + 3 <= view.byteLength; ) {
    const { storedBytes, isReserved, isLast } = readBlockHead(view, at);
    if (isReserved) return undefined;
    at += 3 + storedBytes;
    if (!isLast) continue;
    const end = at + (view.getUint8(start + 4) & checksumFlag ? 4 : 0);
    return end <= view.byteLength ? end : undefined;
  }
  return undefined;
}

function blocksStartOf(view: DataView, start: number): number {
  const descriptor = view.getUint8(start + 4);
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const sizeFlag = descriptor >> 6;
  const contentSizeBytes = sizeFlag === 0 ? Number(isSingleSegment) : 2 ** sizeFlag;
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 3]!;
  return start + 5 + Number(!isSingleSegment) + dictionaryBytes + contentSizeBytes;
}

interface BlockHead {
  storedBytes: number;
  /** It holds no more decompressed. */
  roomBytes: number;
  isReserved: boolean;
  isLast: boolean;
}

function readBlockHead(view: DataView, at: number): BlockHead {
  const head = view.getUint16(at, true) + view.getUint8(at + 2) * 2 ** 16;
  const type = (head >> 1) & 3;
  const storedBytes = type === repeatedType ? 1 : head >>> 3;
  const roomBytes = type === compressedType ? mostBlockBytes : head >>> 3;
  return { storedBytes, roomBytes, isReserved: type === reservedType, isLast: (head & 1) === 1 };
}

/**
 * Where blocks end that are sure to hold the first `wantedBytes` of a whole frame of `contentBytes`. What a block holds is known only once
 * it is decompressed, but not how little: those behind can hold no more than they have room for.
 */
export function endOfBlocks(frame: Uint8Array, wantedBytes: number, contentBytes: number): number | undefined {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  let roomBehind = 0;
  for (const { roomBytes } of blocksOf(view)) roomBehind += roomBytes;
  for (const { end, roomBytes } of blocksOf(view)) {
    roomBehind -= roomBytes;
    if (contentBytes - roomBehind >= wantedBytes) return end;
  }
  return undefined;
}

function* blocksOf(view: DataView): Generator<{ end: number; roomBytes: number }> {
  for (let at = blocksStartOf(view, 0); ; ) {
    const { storedBytes, roomBytes, isLast } = readBlockHead(view, at);
    at += 3 + storedBytes;
    yield { end: at, roomBytes };
    if (isLast) return;
  }
}

/** spec: RFC 8878 §3.1.1.2.4 */
const mostBlockBytes = 128 * 1024;

const checksumFlag = 0x04;

const repeatedType = 1;
const compressedType = 2;
const reservedType = 3;
