import { zstdDecompressSync } from "node:zlib";

/** The decompressed bytes of a chunk, and how many bytes stand behind its last frame. */
export interface Decompressed {
  readonly bytes: Uint8Array;
  readonly restBytes: number;
}

/**
 * Frame by frame, as both formats allow several, and frames to be skipped among them. Throws a plain error where the bytes are
 * no frames, or the compression is not one of the format's. Spec: MCAP "Well-known compression formats".
 */
export function slowDecompress(compression: string, stored: Uint8Array): Decompressed {
  if (compression === "" || compression === "none") return { bytes: stored, restBytes: 0 };
  const readFrame = frameReaders[compression];
  if (!readFrame) throw new Error(`the compression "${compression}" is unknown`);
  const parts: Uint8Array[] = [];
  let at = 0;
  while (at < stored.byteLength) {
    const frame = stored.subarray(at);
    if (!isFrame(compression, frame) && at > 0) break;
    const { bytes, lengthBytes } = isSkippable(frame) ? skipFrame(frame) : readFrame(frame);
    parts.push(bytes);
    at += lengthBytes;
  }
  return { bytes: Buffer.concat(parts), restBytes: stored.byteLength - at };
}

interface Frame {
  readonly bytes: Uint8Array;
  /** The size of the frame as it is stored. */
  readonly lengthBytes: number;
}

const frameReaders: Record<string, (bytes: Uint8Array) => Frame> = { zstd: readZstdFrame, lz4: readLz4Frame };
const frameMagic: Record<string, number> = { zstd: 0xfd2fb528, lz4: 0x184d2204 };

function isFrame(compression: string, bytes: Uint8Array): boolean {
  if (bytes.byteLength < 4) return false;
  return isSkippable(bytes) || viewOf(bytes).getUint32(0, true) === frameMagic[compression];
}

/** Spec: RFC 8878 "Skippable Frames". */
function isSkippable(bytes: Uint8Array): boolean {
  return bytes.byteLength >= 8 && (viewOf(bytes).getUint32(0, true) & 0xfffffff0) >>> 0 === 0x184d2a50;
}

function skipFrame(bytes: Uint8Array): Frame {
  const lengthBytes = 8 + viewOf(bytes).getUint32(4, true);
  if (lengthBytes > bytes.byteLength) throw new Error("a frame to be skipped is cut off");
  return { bytes: new Uint8Array(0), lengthBytes };
}

/** Only its length is found here; the library decompresses. Spec: RFC 8878 "Zstandard Frames". */
function readZstdFrame(bytes: Uint8Array): Frame {
  const view = viewOf(bytes);
  if (view.getUint32(0, true) !== frameMagic.zstd) throw new Error("no zstd frame");
  const descriptor = view.getUint8(4);
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const sizeFlag = descriptor >> 6;
  const sizeBytes = sizeFlag === 0 ? Number(isSingleSegment) : 2 ** sizeFlag;
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 3]!;
  let at = 5 + (isSingleSegment ? 0 : 1) + dictionaryBytes + sizeBytes;
  for (let isLast = false; !isLast; ) {
    const head = view.getUint16(at, true) + view.getUint8(at + 2) * 0x10000;
    isLast = (head & 1) === 1;
    const isRepeatedByte = ((head >> 1) & 3) === 1;
    at += 3 + (isRepeatedByte ? 1 : head >> 3);
  }
  if ((descriptor & 4) !== 0) at += 4;
  if (at > bytes.byteLength) throw new Error("a zstd frame is cut off");
  return { bytes: zstdDecompressSync(bytes.subarray(0, at), { maxOutputLength: MOST_BYTES }), lengthBytes: at };
}

const MOST_BYTES = 512 * 1024 * 1024;

/** Spec: LZ4 frame format. Its own checksums are not looked at. */
function readLz4Frame(bytes: Uint8Array): Frame {
  const view = viewOf(bytes);
  if (view.getUint32(0, true) !== frameMagic.lz4) throw new Error("no LZ4 frame");
  const flags = view.getUint8(4);
  const blockChecksumBytes = flags & 0x10 ? 4 : 0;
  let at = 7 + (flags & 0x08 ? 8 : 0) + (flags & 0x01 ? 4 : 0);
  const output = growBytes();
  for (let head = view.getUint32(at, true); head !== 0; head = view.getUint32(at, true)) {
    const start = at + 4;
    const end = start + (head & 0x7fffffff);
    if (end > bytes.byteLength) throw new Error("an LZ4 block is cut off");
    const block = bytes.subarray(start, end);
    if (head >>> 31 === 1) for (const byte of block) output.push(byte);
    else addLz4Block(block, output);
    at = end + blockChecksumBytes;
  }
  at += 4 + (flags & 0x04 ? 4 : 0);
  if (at > bytes.byteLength) throw new Error("an LZ4 frame is cut off");
  return { bytes: output.take(), lengthBytes: at };
}

/** Spec: LZ4 block format: literals, then a copy of what was put out before, in turns. */
function addLz4Block(block: Uint8Array, output: GrowingBytes): void {
  let at = 0;
  const next = (): number => {
    const byte = block[at];
    if (byte === undefined) throw new Error("an LZ4 block ends in the middle");
    at += 1;
    return byte;
  };
  const readLength = (start: number): number => {
    let length = start;
    if (start !== 15) return length;
    for (let byte = 255; byte === 255; ) {
      byte = next();
      length += byte;
    }
    return length;
  };
  while (at < block.byteLength) {
    const token = next();
    for (let left = readLength(token >> 4); left > 0; left -= 1) output.push(next());
    if (at === block.byteLength) return;
    const distance = next() + next() * 256;
    if (distance === 0 || distance > output.lengthBytes) throw new Error("an LZ4 block copies what is not there");
    for (let left = 4 + readLength(token & 15); left > 0; left -= 1) output.push(output.back(distance));
  }
}

interface GrowingBytes {
  readonly lengthBytes: number;
  push(byte: number): void;
  /** Answers the byte that was put out so many bytes ago. */
  back(distance: number): number;
  take(): Uint8Array;
}

function growBytes(): GrowingBytes {
  let bytes = new Uint8Array(1024);
  let lengthBytes = 0;
  return {
    get lengthBytes() {
      return lengthBytes;
    },
    push(byte) {
      if (lengthBytes === bytes.byteLength) {
        const larger = new Uint8Array(2 * lengthBytes);
        larger.set(bytes);
        bytes = larger;
      }
      bytes[lengthBytes] = byte;
      lengthBytes += 1;
    },
    back: (distance) => bytes[lengthBytes - distance]!,
    take: () => bytes.slice(0, lengthBytes),
  };
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
