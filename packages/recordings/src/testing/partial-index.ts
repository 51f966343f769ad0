import { McapRecordBuilder, type McapTypes } from "@mcap/core";
import { readRecords } from "./read-messages.ts";

/** Rewrites the summary of an indexed MCAP file so that it names and counts only some of the chunks. */
export function indexSome(whole: Uint8Array, isNamed: (chunk: number) => boolean): Uint8Array {
  const { records, schemas, channels } = readRecords(whole);
  const indexes = records.filter((record) => record.type === "ChunkIndex").filter((_, index) => isNamed(index));
  const counts = countNamed(records, isNamed);
  const summary = new McapRecordBuilder();
  for (const schema of schemas.values()) summary.writeSchema(schema);
  for (const channel of channels.values()) summary.writeChannel(channel);
  const times = indexes
    .flatMap(({ messageStartTime, messageEndTime }) => [messageStartTime, messageEndTime])
    .sort(byTime);
  summary.writeStatistics({
    messageCount: [...counts.values()].reduce((sum, count) => sum + count, 0n),
    schemaCount: schemas.size,
    channelCount: channels.size,
    attachmentCount: 0,
    metadataCount: 0,
    chunkCount: indexes.length,
    messageStartTime: times[0] ?? 0n,
    messageEndTime: times.at(-1) ?? 0n,
    channelMessageCounts: counts,
  });
  for (const index of indexes) summary.writeChunkIndex(index);
  const footer = records.find((record) => record.type === "Footer")!;
  summary.writeFooter({ summaryStart: footer.summaryStart, summaryOffsetStart: 0n, summaryCrc: 0 });
  summary.writeMagic();
  return Buffer.concat([whole.subarray(0, Number(footer.summaryStart)), summary.buffer]);
}

function byTime(a: bigint, b: bigint): number {
  return Number(a - b);
}

function countNamed(
  records: readonly McapTypes.TypedMcapRecord[],
  isNamed: (chunk: number) => boolean,
): Map<number, bigint> {
  const counts = new Map<number, bigint>();
  let chunk = -1;
  for (const record of records) {
    if (record.type === "Chunk") chunk += 1;
    if (record.type !== "MessageIndex" || !isNamed(chunk)) continue;
    counts.set(record.channelId, (counts.get(record.channelId) ?? 0n) + BigInt(record.records.length));
  }
  return counts;
}

/** Takes the n-th chunk info out of the index of a bag. */
export function withoutInfo(whole: Uint8Array, chunk: number): Uint8Array {
  const bag = Buffer.from(whole);
  const countAt = bag.indexOf("chunk_count=") + 12;
  bag.writeUInt32LE(bag.readUInt32LE(countAt) - 1, countAt);
  let left = chunk;
  for (let at = Number(bag.readBigUInt64LE(bag.indexOf("index_pos=") + 10)); at < bag.byteLength; ) {
    const headerEnd = at + 4 + bag.readUInt32LE(at);
    const end = headerEnd + 4 + bag.readUInt32LE(headerEnd);
    const header = bag.subarray(at + 4, headerEnd);
    const isInfo = header[header.indexOf("op=") + 3] === 6;
    if (isInfo && left === 0) return Buffer.concat([bag.subarray(0, at), bag.subarray(end)]);
    if (isInfo) left -= 1;
    at = end;
  }
  return bag;
}
