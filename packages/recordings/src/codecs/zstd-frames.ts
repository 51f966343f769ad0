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
  const descriptor = view.getUint8(start + 4);
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const sizeFlag = descriptor >> 6;
  const contentSizeBytes = sizeFlag === 0 ? Number(isSingleSegment) : 2 ** sizeFlag;
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 3]!;
  let at = start + 5 + Number(!isSingleSegment) + dictionaryBytes + contentSizeBytes;
  while (at + 3 <= view.byteLength) {
    const head = view.getUint16(at, true) + view.getUint8(at + 2) * 2 ** 16;
    const type = (head >> 1) & 3;
    if (type === reservedType) return undefined;
    at += 3 + (type === repeatedType ? 1 : head >>> 3);
    if ((head & 1) === 0) continue;
    const end = at + (descriptor & 0x04 ? 4 : 0);
    return end <= view.byteLength ? end : undefined;
  }
  return undefined;
}

const repeatedType = 1;
const reservedType = 3;
