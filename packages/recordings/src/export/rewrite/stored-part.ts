import { crc32 } from "node:zlib";
import type { Decompressor } from "../../codecs/decompress.ts";
import { RecordingFault } from "../../reasons.ts";
import type { RecordingFormatName } from "../../summary.ts";

/** A run as it lies among the bytes that were read of its file. */
export interface StoredPart {
  format: RecordingFormatName;
  /** Of its messages, compressed or not. */
  start: number;
  storedBytes: number;
  compression: string;
  uncompressedBytes: number;
  /** CRC-32 of the uncompressed bytes; 0: not given. */
  crc: number;
  /** Begins the text of faults. */
  place: string;
  /** All of its messages lie within. */
  startNs: bigint;
  endNs: bigint;
}

/** Faults as a chunk does that is not what its header promises. */
export async function loadPart(part: StoredPart, bytes: Uint8Array, decompress: Decompressor): Promise<Uint8Array> {
  const { compression, uncompressedBytes, place, start, storedBytes } = part;
  const stored = bytes.subarray(start, start + storedBytes);
  const loaded = await decompress({ compression, bytes: stored, uncompressedBytes, place });
  if (part.crc === 0 || crc32(loaded) === part.crc) return loaded;
  throw new RecordingFault("BadChunk", `${place} fails its checksum; the file is damaged there`);
}
