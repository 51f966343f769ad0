import { randomFillSync } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { loadLz4 } from "../../codecs/load-lz4.ts";
import {
  beginBagHead,
  encodeRecord,
  endBagHead,
  PADDING_BYTES,
  u8,
  u32,
  u32Row,
} from "../../export/write-bag/bag-records.ts";
import { createBagBody, encodeIndex, placeChunk } from "../../export/write-bag/write-bag.ts";
import { FileSource } from "../../sources/file-source.ts";
import { makeIndex } from "../export-bytes.ts";
import { makeConnection } from "../write-bag-messages.ts";
import { type ContentSums, createContentSums } from "./content-sums.ts";

export interface LargeBagSpec {
  readonly compression: "" | "lz4";
  readonly messageBytes: number;
  /** The size of all messages; they stand in one chunk. */
  readonly chunkBytes: number;
}

/** A bag of one chunk, a message each millisecond, and its verified index beside it; answers what its messages' data come to. */
export async function writeLargeBag(
  path: string,
  { compression, messageBytes, chunkBytes }: LargeBagSpec,
): Promise<ContentSums> {
  const body = createBagBody();
  const { id, newRecord } = body.connections.introduce(makeConnection("/a"));
  const noise = randomFillSync(Buffer.alloc(64 * 1024));
  const records = Buffer.alloc(chunkBytes);
  const entries: number[] = [];
  const sums = createContentSums();
  let filledBytes = newRecord!.copy(records);
  for (let index = 0; ; index += 1) {
    const data = Buffer.alloc(messageBytes);
    noise.copy(data, 0, index % 4096, (index % 4096) + Math.min(60_000, Math.ceil(messageBytes / 16)));
    const time = [1 + Math.floor(index / 1000), (index % 1000) * 1_000_000];
    const record = encodeRecord({ op: u8(2), conn: u32(id), time: u32Row(time) }, data);
    if (filledBytes + record.byteLength > chunkBytes) break;
    entries.push(...time, filledBytes);
    filledBytes += record.copy(records, filledBytes);
    sums.add(data);
  }
  const filled = records.subarray(0, filledBytes);
  const last = { seconds: entries.at(-3)!, nanoseconds: entries.at(-2)! };
  const stored = compression === "" ? filled : loadLz4().compressFrameSync(filled, { contentChecksum: true });
  const about = {
    indexes: new Map([[id, { entries: Uint32Array.from(entries), messageCount: entries.length / 3 }]]),
    start: { seconds: 1, nanoseconds: 0 },
    end: last,
  };
  const chunk = { ...about, sizeBytes: filledBytes, stored, compression: compression || ("none" as const) };
  const pieces = [...placeChunk(body, chunk)];
  const numbers = { indexPosition: body.position, connectionCount: 1, chunkCount: 1 };
  const head = [beginBagHead(), Buffer.alloc(PADDING_BYTES, " "), endBagHead(numbers)];
  await writeFile(path, [...head, ...pieces, encodeIndex(body)]);
  await using source = await FileSource.open(path);
  await writeFile(`${path}.index`, await makeIndex(source, { fileName: path }));
  return sums;
}
