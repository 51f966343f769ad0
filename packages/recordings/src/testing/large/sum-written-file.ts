import { crc32, zstdDecompressSync } from "node:zlib";
import { loadLz4 } from "../../codecs/load-lz4.ts";
import { FileSource } from "../../sources/file-source.ts";
import { type ContentSums, createContentSums } from "./content-sums.ts";

/** Reads an MCAP file chunk by chunk, with nothing of what wrote it; throws where it is not whole or not in order. */
export async function sumWrittenFile(path: string): Promise<ContentSums> {
  await using file = await FileSource.open(path);
  const sums = createContentSums();
  let lastNs = 0n;
  let at = 8;
  for (let opcode = 0; opcode !== 2; ) {
    const head = Buffer.from(await file.read(at, 9));
    opcode = head[0]!;
    const lengthBytes = Number(head.readBigUInt64LE(1));
    if (opcode === 6) lastNs = sumChunk(Buffer.from((await file.read(at + 9, lengthBytes)).buffer), sums, lastNs);
    at += 9 + lengthBytes;
  }
  if (at + 8 !== file.sizeBytes) throw new Error(`${path} goes on behind its footer`);
  return sums;
}

function sumChunk(chunk: Buffer, sums: ContentSums, beforeNs: bigint): bigint {
  const nameBytes = chunk.readUInt32LE(28);
  const compression = chunk.subarray(32, 32 + nameBytes).toString();
  const stored = chunk.subarray(40 + nameBytes);
  const records = Buffer.from(decompress(compression, stored, Number(chunk.readBigUInt64LE(16))));
  if (records.byteLength !== Number(chunk.readBigUInt64LE(16)))
    throw new Error("a chunk has another size than it says");
  const crc = chunk.readUInt32LE(24);
  if (crc !== 0 && crc !== crc32(records)) throw new Error("a chunk fails its checksum");
  let lastNs = beforeNs;
  for (let at = 0; at < records.byteLength; ) {
    const end = at + 9 + Number(records.readBigUInt64LE(at + 1));
    if (records[at] === 5) {
      const timeNs = records.readBigUInt64LE(at + 15);
      if (timeNs < lastNs) throw new Error("the messages are not in order");
      lastNs = timeNs;
      sums.add(records.subarray(at + 9, end));
    }
    at = end;
  }
  return lastNs;
}

function decompress(compression: string, stored: Buffer, sizeBytes: number): Uint8Array {
  if (compression === "zstd") return zstdDecompressSync(stored, { chunkSize: Math.min(sizeBytes + 1, 2 ** 25) });
  if (compression === "lz4") return loadLz4().decompressFrameSync(stored);
  return stored;
}
