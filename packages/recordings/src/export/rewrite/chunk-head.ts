import type { Compression } from "../../codecs/compress.ts";
import { opcodes, RECORD_HEAD_BYTES } from "../../mcap/opcodes.ts";

/** The fields of the head of a chunk's record. */
export interface ChunkHead {
  /** The size of the whole record. */
  readonly chunkBytes: number;
  readonly storedBytes: number;
  readonly uncompressedBytes: number;
  readonly startNs: bigint;
  readonly endNs: bigint;
  /** CRC-32 of the uncompressed records. */
  readonly crc: number;
  readonly compression: Compression;
}

export function chunkHeadBytes(compression: Compression): number {
  return FIXED_HEAD_BYTES + compression.length;
}

/** The head holds times, sizes, a checksum and lengths. */
const FIXED_HEAD_BYTES = RECORD_HEAD_BYTES + 8 + 8 + 8 + 4 + 4 + 8;

/** Encodes the head of a chunk whose content is written in pieces. */
export function encodeChunkHead(head: Omit<ChunkHead, "chunkBytes">): Buffer {
  const bytes = Buffer.alloc(chunkHeadBytes(head.compression));
  writeChunkHead(bytes, { ...head, chunkBytes: bytes.byteLength + head.storedBytes });
  return bytes;
}

/** spec: MCAP "Chunk". */
export function writeChunkHead(bytes: Buffer, head: ChunkHead): void {
  bytes.writeUInt8(opcodes.chunk, 0);
  bytes.writeBigUInt64LE(BigInt(head.chunkBytes - RECORD_HEAD_BYTES), 1);
  bytes.writeBigUInt64LE(head.startNs, 9);
  bytes.writeBigUInt64LE(head.endNs, 17);
  bytes.writeBigUInt64LE(BigInt(head.uncompressedBytes), 25);
  bytes.writeUInt32LE(head.crc, 33);
  bytes.writeUInt32LE(head.compression.length, 37);
  bytes.write(head.compression, 41);
  bytes.writeBigUInt64LE(BigInt(head.storedBytes), 41 + head.compression.length);
}
