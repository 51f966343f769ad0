import type { ByteFeed } from "./byte-feed.ts";

/** One frame among compressed bytes. */
export interface Lz4Frame {
  start: number;
  end: number;
  /** Of its content, from the heads of its blocks alone. */
  mostBytes: number;
}

/**
 * The frames that stand one behind the other; what follows the last and is none is left out. The most that a frame decompresses to
 * is known from the heads of its blocks: a block yields at most the frame's block size, and at most 255 times its own bytes. Needed
 * because the decoder allocates whatever a frame asks for, and reads no more than one.
 */
export function findLz4Frames(bytes: Uint8Array): Lz4Frame[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const frames: Lz4Frame[] = [];
  for (let at = 0; at + 7 <= bytes.byteLength; ) {
    const magic = view.getUint32(at, true);
    if (isSkippable(magic)) {
      at += 8 + view.getUint32(at + 4, true);
      continue;
    }
    const frame = magic === frameMagic ? readFrame(view, at) : undefined;
    if (!frame) break;
    frames.push(frame);
    at = frame.end;
  }
  return frames;
}

/** Of LZ4 and of zstd: sixteen numbers that decoders pass over. */
export function isSkippable(magic: number): boolean {
  return magic >>> 4 === 0x184d2a5;
}

function readFrame(view: DataView, start: number): Lz4Frame | undefined {
  const flags = view.getUint8(start + 4);
  const blockMaxBytes = blockSizes[(view.getUint8(start + 5) >> 4) & 7];
  if (blockMaxBytes === undefined) return undefined;
  const blockTrailerBytes = flags & flag.blockChecksum ? 4 : 0;
  const blocksStart = start + 7 + (flags & flag.contentSize ? 8 : 0) + (flags & flag.dictionary ? 4 : 0);
  let mostBytes = 0;
  for (let at = blocksStart; at + 4 <= view.byteLength; ) {
    const head = view.getUint32(at, true);
    const end = at + 4 + (flags & flag.contentChecksum ? 4 : 0);
    if (head === 0) {
      if (end > view.byteLength) return undefined;
      return { start, end, mostBytes };
    }
    const { storedBytes, isStored } = readBlockHead(head);
    mostBytes += isStored ? storedBytes : Math.min(blockMaxBytes, storedBytes * 255 + 64);
    at += 4 + storedBytes + blockTrailerBytes;
  }
  return undefined;
}

export function readBlockHead(head: number): { storedBytes: number; isStored: boolean } {
  return { storedBytes: head & 0x7fffffff, isStored: head >>> 31 === 1 };
}

const frameMagic = 0x184d2204;
const flag = {
  isIndependent: 0x20,
  blockChecksum: 0x10,
  contentSize: 0x08,
  contentChecksum: 0x04,
  dictionary: 0x01,
} as const;
const blockSizes: Record<number, number> = { 4: 64 << 10, 5: 256 << 10, 6: 1 << 20, 7: 4 << 20 };

/** Of a frame whose bytes come piece by piece. */
export interface Lz4Head {
  blockMaxBytes: number;
  /** Behind each block. */
  blockTrailerBytes: number;
  /** Behind the last. */
  endBytes: number;
  /** Blocks refer to what comes before them. */
  isLinked: boolean;
}

/** Of the next frame; undefined where no more begins. */
export async function readLz4Head(feed: ByteFeed): Promise<Lz4Head | undefined> {
  for (let start = await feed.take(7); start; start = await feed.take(7)) {
    const view = new DataView(start.buffer, start.byteOffset, start.byteLength);
    const magic = view.getUint32(0, true);
    if (isSkippable(magic)) {
      const last = await feed.take(1);
      if (!last) return undefined;
      const sizeBytes = view.getUint16(4, true) + view.getUint8(6) * 2 ** 16 + last[0]! * 2 ** 24;
      if (!(await feed.skip(sizeBytes))) return undefined;
      continue;
    }
    const flags = view.getUint8(4);
    const blockMaxBytes = blockSizes[(view.getUint8(5) >> 4) & 7];
    if (magic !== frameMagic || blockMaxBytes === undefined) return undefined;
    await feed.take((flags & flag.contentSize ? 8 : 0) + (flags & flag.dictionary ? 4 : 0));
    return {
      blockMaxBytes,
      blockTrailerBytes: flags & flag.blockChecksum ? 4 : 0,
      endBytes: flags & flag.contentChecksum ? 4 : 0,
      isLinked: (flags & flag.isIndependent) === 0,
    };
  }
  return undefined;
}
