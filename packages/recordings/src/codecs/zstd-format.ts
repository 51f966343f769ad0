/** This file reads what the heads of frames and of their blocks say. spec: RFC 8878 §3.1 */
export const ZSTD_MAGIC = 0xfd2fb528;
export const ZSTD_BLOCK_HEAD_BYTES = 3;
/** The longest head that a frame can have, its magic included. */
export const MOST_ZSTD_HEAD_BYTES = 18;

/** The length of a frame's head with its magic. `descriptor` is the byte behind the magic. */
export function zstdHeadBytes(descriptor: number): number {
  const isSingleSegment = isSingle(descriptor);
  const sizeFlag = descriptor >> 6;
  const contentSizeBytes = sizeFlag === 0 ? Number(isSingleSegment) : 2 ** sizeFlag;
  return WINDOW_AT + Number(!isSingleSegment) + dictionaryBytesOf(descriptor) + contentSizeBytes;
}

/** The length of the checksum behind a frame's last block. */
export function zstdTrailerBytes(descriptor: number): number {
  return (descriptor & 0x04) !== 0 ? 4 : 0;
}

export interface ZstdBlock {
  readonly storedBytes: number;
  /** The most bytes that the block can hold, decompressed. */
  readonly roomBytes: number;
  readonly isReserved: boolean;
  readonly isLast: boolean;
}

/** `head` is the number that its three bytes make. */
export function readZstdBlock(head: number): ZstdBlock {
  const type = (head >> 1) & 3;
  const storedBytes = type === REPEATED_TYPE ? 1 : head >>> 3;
  const roomBytes = type === COMPRESSED_TYPE ? MOST_BLOCK_BYTES : head >>> 3;
  return { storedBytes, roomBytes, isReserved: type === RESERVED_TYPE, isLast: (head & 1) === 1 };
}

/** How much of a frame's content a decoder keeps to refer back to. `head` is the first bytes of the frame, up to 18. */
export function zstdWindowBytes(head: Uint8Array): number {
  const bytes = Buffer.alloc(MOST_ZSTD_HEAD_BYTES);
  bytes.set(head.subarray(0, MOST_ZSTD_HEAD_BYTES));
  const descriptor = bytes[4]!;
  if (!isSingle(descriptor)) return 2 ** (10 + (bytes[WINDOW_AT]! >> 3)) * (1 + (bytes[WINDOW_AT]! & 7) / 8);
  const at = WINDOW_AT + dictionaryBytesOf(descriptor);
  const sizeFlag = descriptor >> 6;
  if (sizeFlag === 0) return bytes[at]!;
  if (sizeFlag === 1) return bytes.readUInt16LE(at) + 256;
  return sizeFlag === 2 ? bytes.readUInt32LE(at) : Number(bytes.readBigUInt64LE(at));
}

/** The window's byte stands behind the magic and the descriptor. */
const WINDOW_AT = 5;

function isSingle(descriptor: number): boolean {
  return (descriptor & 0x20) !== 0;
}

function dictionaryBytesOf(descriptor: number): number {
  return [0, 1, 2, 4][descriptor & 3]!;
}

const REPEATED_TYPE = 1;
const COMPRESSED_TYPE = 2;
const RESERVED_TYPE = 3;
/** spec: RFC 8878 §3.1.1.2.4 */
const MOST_BLOCK_BYTES = 128 * 1024;
