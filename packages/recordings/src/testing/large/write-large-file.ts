import { randomFillSync } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { constants, crc32, zstdCompressSync } from "node:zlib";
import { McapRecordBuilder } from "@mcap/core";
import { loadLz4 } from "../../codecs/load-lz4.ts";
import { FileSource } from "../../sources/file-source.ts";
import { makeIndex } from "../export-bytes.ts";
import { type ContentSums, createContentSums } from "./content-sums.ts";

export interface LargeFileSpec {
  readonly compression: "" | "lz4" | "zstd";
  /** The size of a message's data. */
  readonly messageBytes: number;
  /** The size of all messages; they stand in one chunk. */
  readonly chunkBytes: number;
  /** Times in no order. */
  readonly isShuffled?: boolean;
  /** The time of the first message; the next ones follow 2 µs later each. */
  readonly startNs: bigint;
  /** Data that hardly compress, all of them; otherwise a sixteenth. */
  readonly isNoise?: boolean;
  /** How far back a decoder of zstd must be able to look, as a power of two. The default is 21. */
  readonly windowLog?: number;
}

/** The sums of its messages: of all, of those of /b, which has every tenth, and of those of the first half of the time. */
export interface LargeFileSums {
  readonly all: ContentSums;
  readonly b: ContentSums;
  readonly half: ContentSums;
  readonly halfEndNs: bigint;
}

/** An MCAP file of one chunk, and its verified index beside it. */
export async function writeLargeFile(path: string, spec: LargeFileSpec): Promise<LargeFileSums> {
  const { records, times, sums } = makeRecords(spec);
  const stored = compressLarge(records, spec);
  const chunk = Buffer.alloc(9 + 40 + spec.compression.length);
  chunk.writeUInt8(6, 0);
  chunk.writeBigUInt64LE(BigInt(chunk.byteLength - 9 + stored.byteLength), 1);
  chunk.writeBigUInt64LE(times.first, 9);
  chunk.writeBigUInt64LE(times.last, 17);
  chunk.writeBigUInt64LE(BigInt(records.byteLength), 25);
  chunk.writeUInt32LE(crc32(records), 33);
  chunk.writeUInt32LE(spec.compression.length, 37);
  chunk.write(spec.compression, 41);
  chunk.writeBigUInt64LE(BigInt(stored.byteLength), 41 + spec.compression.length);
  await writeFile(path, [headOf(), chunk, stored, endOf()]);
  await using source = await FileSource.open(path);
  await writeFile(`${path}.index`, await makeIndex(source));
  return sums;
}

function headOf(): Uint8Array {
  const builder = new McapRecordBuilder();
  builder.writeMagic();
  builder.writeHeader({ profile: "", library: "large" });
  for (const [id, topic] of [
    [1, "/a"],
    [2, "/b"],
  ] as const)
    builder.writeChannel({ id, schemaId: 0, topic, messageEncoding: "x", metadata: new Map() });
  return builder.buffer;
}

function endOf(): Uint8Array {
  const builder = new McapRecordBuilder();
  builder.writeDataEnd({ dataSectionCrc: 0 });
  builder.writeFooter({ summaryStart: 0n, summaryOffsetStart: 0n, summaryCrc: 0 });
  builder.writeMagic();
  return builder.buffer;
}

function makeRecords({ messageBytes, chunkBytes, isShuffled = false, startNs, isNoise = false }: LargeFileSpec) {
  const recordBytes = 31 + messageBytes;
  const count = Math.max(1, Math.floor(chunkBytes / recordBytes));
  const records = Buffer.alloc(count * recordBytes);
  if (isNoise) fillNoise(records);
  const noise = randomFillSync(Buffer.alloc(64 * 1024));
  const sums = { all: createContentSums(), b: createContentSums(), half: createContentSums() };
  const halfEndNs = startNs + BigInt(count) * 1000n;
  const order = isShuffled ? shuffled(count) : undefined;
  for (let index = 0; index < count; index += 1) {
    const at = index * recordBytes;
    const channelId = index % 10 === 9 ? 2 : 1;
    const timeNs = startNs + BigInt(order ? order[index]! : index) * 2000n;
    records.writeUInt8(5, at);
    records.writeBigUInt64LE(BigInt(22 + messageBytes), at + 1);
    records.writeUInt16LE(channelId, at + 9);
    records.writeUInt32LE(index, at + 11);
    records.writeBigUInt64LE(timeNs, at + 15);
    records.writeBigUInt64LE(timeNs, at + 23);
    if (!isNoise) {
      noise.copy(records, at + 31, index % 4096, (index % 4096) + Math.min(60_000, Math.ceil(messageBytes / 16)));
    }
    const content = records.subarray(at + 9, at + recordBytes);
    sums.all.add(content);
    if (channelId === 2) sums.b.add(content);
    if (timeNs <= halfEndNs) sums.half.add(content);
  }
  const times = { first: startNs, last: startNs + BigInt(count - 1) * 2000n };
  return { records, times, sums: { ...sums, halfEndNs } };
}

function fillNoise(bytes: Buffer): void {
  for (let at = 0; at < bytes.byteLength; at += 64 * 1024 * 1024)
    randomFillSync(bytes.subarray(at, at + 64 * 1024 * 1024));
}

function shuffled(count: number): Uint32Array {
  const order = Uint32Array.from({ length: count }, (_, index) => index);
  let state = 1;
  for (let index = count - 1; index > 0; index -= 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const other = state % (index + 1);
    [order[index], order[other]] = [order[other]!, order[index]!];
  }
  return order;
}

function compressLarge(records: Buffer, { compression, windowLog = 21 }: LargeFileSpec): Uint8Array {
  if (compression === "lz4") return loadLz4().compressFrameSync(records);
  if (compression === "") return records;
  const params = { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_windowLog]: windowLog };
  return zstdCompressSync(records, { params, chunkSize: 8 * 1024 * 1024 });
}
