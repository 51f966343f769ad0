import type { ByteFeed } from "./byte-feed.ts";
import { type Frame, findFrames, isSkippable } from "./find-frames.ts";

/** One frame among compressed bytes. */
export interface Lz4Frame extends Frame {
  /** The most bytes that its content can have, by the heads of its blocks alone. */
  readonly mostBytes: number;
}

/**
 * Finds the frames, and the most that each decompresses to: a block yields at most the frame's block size, and at most 255 times its own
 * bytes. This is needed because the decoder allocates whatever a frame asks for.
 */
export function findLz4Frames(bytes: Uint8Array): Lz4Frame[] {
  return findFrames(bytes, readFrame);
}

/** Whether bytes are nothing but one frame that ends with a checksum of its content. */
export function isOneSummedFrame(bytes: Uint8Array): boolean {
  const [frame, ...others] = findLz4Frames(bytes);
  if (!frame || others.length > 0 || frame.start > 0 || frame.end < bytes.byteLength) return false;
  return (bytes[4]! & flag.contentChecksum) !== 0;
}

function readFrame(view: DataView, start: number, magic: number): Lz4Frame | undefined {
  const frame = readDescriptor(magic, view.getUint8(start + 4), view.getUint8(start + 5));
  if (!frame) return undefined;
  let mostBytes = 0;
  for (let at = start + START_BYTES + frame.optionalBytes; at + 4 <= view.byteLength; ) {
    const head = view.getUint32(at, true);
    const end = at + 4 + frame.endBytes;
    if (head === 0) return end <= view.byteLength ? { start, end, mostBytes } : undefined;
    const { storedBytes, isStored } = readBlockHead(head);
    mostBytes += isStored ? storedBytes : Math.min(frame.blockMaxBytes, storedBytes * 255 + 64);
    at += 4 + storedBytes + frame.blockTrailerBytes;
  }
  return undefined;
}

export function readBlockHead(head: number): { storedBytes: number; isStored: boolean } {
  return { storedBytes: head & 0x7fffffff, isStored: head >>> 31 === 1 };
}

/**
 * A frame starts with the magic, two bytes that say what follows, and a checksum of them. The optional fields stand before the checksum.
 */
const START_BYTES = 7;
const FRAME_MAGIC = 0x184d2204;
const flag = {
  isIndependent: 0x20,
  blockChecksum: 0x10,
  contentSize: 0x08,
  contentChecksum: 0x04,
  dictionary: 0x01,
} as const;
const blockSizes: Record<number, number> = { 4: 64 << 10, 5: 256 << 10, 6: 1 << 20, 7: 4 << 20 };

/** How a frame is made up. */
export interface Lz4Head {
  readonly blockMaxBytes: number;
  /** The bytes of the checksum behind each block. */
  readonly blockTrailerBytes: number;
  /** The bytes of the checksum behind the last block. */
  readonly endBytes: number;
  /** Blocks refer to what comes before them. */
  readonly isLinked: boolean;
}

/** Answers undefined if no frame begins. */
function readDescriptor(
  magic: number,
  flags: number,
  sizes: number,
): (Lz4Head & { optionalBytes: number }) | undefined {
  const blockMaxBytes = blockSizes[(sizes >> 4) & 7];
  if (magic !== FRAME_MAGIC || blockMaxBytes === undefined) return undefined;
  return {
    blockMaxBytes,
    blockTrailerBytes: flags & flag.blockChecksum ? 4 : 0,
    endBytes: flags & flag.contentChecksum ? 4 : 0,
    isLinked: (flags & flag.isIndependent) === 0,
    optionalBytes: (flags & flag.contentSize ? 8 : 0) + (flags & flag.dictionary ? 4 : 0),
  };
}

/** Reads the head of the next frame of bytes that come piece by piece. Answers undefined if no other frame begins. */
export async function readLz4Head(feed: ByteFeed): Promise<Lz4Head | undefined> {
  for (let start = await feed.take(START_BYTES); start; start = await feed.take(START_BYTES)) {
    const view = new DataView(start.buffer, start.byteOffset, start.byteLength);
    const magic = view.getUint32(0, true);
    if (isSkippable(magic)) {
      const last = await feed.take(1);
      if (!last) return undefined;
      const sizeBytes = view.getUint16(4, true) + view.getUint8(6) * 2 ** 16 + last[0]! * 2 ** 24;
      if (!(await feed.skip(sizeBytes))) return undefined;
      continue;
    }
    const head = readDescriptor(magic, view.getUint8(4), view.getUint8(5));
    if (head) await feed.take(head.optionalBytes);
    return head;
  }
  return undefined;
}
