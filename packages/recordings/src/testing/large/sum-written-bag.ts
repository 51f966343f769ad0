import { loadLz4 } from "../../codecs/load-lz4.ts";
import { FileSource } from "../../sources/file-source.ts";
import { type ContentSums, createContentSums } from "./content-sums.ts";

/** Reads a bag chunk by chunk, with nothing of what wrote it; throws where it is not whole or not in order. */
export async function sumWrittenBag(path: string): Promise<ContentSums> {
  await using file = await FileSource.open(path);
  const read = async (at: number, length: number) => Buffer.from((await file.read(at, length)).buffer);
  const sums = createContentSums();
  let lastNs = 0n;
  let chunkCount = 0;
  let head = { chunkCount: -1, indexAt: -1 };
  let at = 13;
  while (at < file.sizeBytes) {
    const header = fieldsOf(await read(at + 4, (await read(at, 4)).readUInt32LE()));
    const dataAt = at + 4 + header.sizeBytes + 4;
    const dataBytes = (await read(dataAt - 4, 4)).readUInt32LE();
    const opcode = header.fields.get("op")![0];
    if (opcode === 3) {
      const [count, index] = [header.fields.get("chunk_count")!, header.fields.get("index_pos")!];
      head = { chunkCount: count.readUInt32LE(), indexAt: Number(index.readBigUInt64LE()) };
    }
    if (opcode === 5) {
      chunkCount += 1;
      const stored = await read(dataAt, dataBytes);
      const isLz4 = header.fields.get("compression")!.toString() === "lz4";
      lastNs = sumRecords(isLz4 ? loadLz4().decompressFrameSync(stored) : stored, sums, lastNs);
    }
    if (opcode === 7 && head.indexAt > at)
      throw new Error(`${path} has its index before the place that its head names`);
    at = dataAt + dataBytes;
  }
  if (at !== file.sizeBytes || chunkCount !== head.chunkCount) throw new Error(`${path} is not what its head says`);
  return sums;
}

function sumRecords(records: Buffer, sums: ContentSums, beforeNs: bigint): bigint {
  let lastNs = beforeNs;
  for (let at = 0; at < records.byteLength; ) {
    const header = fieldsOf(records.subarray(at + 4, at + 4 + records.readUInt32LE(at)));
    const dataAt = at + 4 + header.sizeBytes + 4;
    const end = dataAt + records.readUInt32LE(dataAt - 4);
    if (header.fields.get("op")![0] === 2) {
      const time = header.fields.get("time")!;
      const timeNs = BigInt(time.readUInt32LE(0)) * 1_000_000_000n + BigInt(time.readUInt32LE(4));
      if (timeNs < lastNs) throw new Error("the messages are not in order");
      lastNs = timeNs;
      sums.add(records.subarray(dataAt, end));
    }
    at = end;
  }
  return lastNs;
}

function fieldsOf(header: Buffer): { fields: Map<string, Buffer>; sizeBytes: number } {
  const fields = new Map<string, Buffer>();
  for (let at = 0; at < header.byteLength; ) {
    const end = at + 4 + header.readUInt32LE(at);
    const field = header.subarray(at + 4, end);
    const split = field.indexOf("=");
    fields.set(field.toString("latin1", 0, split), field.subarray(split + 1));
    at = end;
  }
  return { fields, sizeBytes: header.byteLength };
}
