import { zstdCompressSync } from "node:zlib";
import { McapRecordBuilder } from "@mcap/core";

export interface HostileFile {
  /** A description of it for a test's output. */
  readonly name: string;
  /** The reason for which a verifying inspection refuses it, or `finished` or `empty`. */
  readonly code: string;
  /** The reason that is reported of a file that is not refused. */
  readonly damage?: string;
  make(): Uint8Array;
}

const MIB = 1024 * 1024;

/** Small MCAP files that are made to cost their reader memory, time or its life. */
export const hostileFiles: readonly HostileFile[] = [
  { name: "a record longer than the file", code: "LengthBeyondFile", make: () => wrap(() => lyingRecord(2n ** 40n)) },
  { name: "a record of 2^63 bytes", code: "LengthBeyondFile", make: () => wrap(() => lyingRecord(2n ** 63n)) },
  { name: "an attachment longer than the file", code: "empty", damage: "LengthBeyondFile", make: attachmentBeyond },
  { name: "a chunk that expands beyond its promise", code: "BadChunk", make: () => bomb({ promisedBytes: 1000 }) },
  { name: "a chunk that promises 4 GiB", code: "ChunkTooLarge", make: () => bomb({ promisedBytes: 4096 * MIB }) },
  { name: "ten million records of no length in two kilobytes", code: "empty", make: () => inChunk(emptyRecords(1e7)) },
  { name: "a million channels", code: "BadRecord", make: () => inChunk(channels({ count: 1e6, ids: 65_536 })) },
  { name: "100,000 channels in the summary", code: "empty", damage: "BadRecord", make: channelsInSummary },
  { name: "65,535 channels with long names", code: "finished", make: () => manyChannels({ nameLength: 100 }) },
  { name: "20,000 channels that share 8 MiB of schema", code: "finished", make: sharedSchema },
  { name: "a metadata record of 17 MiB", code: "RecordTooLarge", make: () => metadata({ count: 1, bytes: 17 * MIB }) },
  { name: "700,000 metadata records", code: "TooManyRecords", make: () => metadata({ count: 7e5, bytes: 0 }) },
  { name: "a metadata record of 650,000 entries", code: "TooManyRecords", make: manyEntries },
  { name: "message indexes that lie", code: "finished", make: lyingIndex },
  { name: "chunk indexes that overlap", code: "finished", make: overlappingIndexes },
];

interface Sections {
  data(builder: McapRecordBuilder): Uint8Array | undefined;
  summary?(builder: McapRecordBuilder): Uint8Array | undefined;
}

/** A whole file around the records that are written or answered. */
function wrap(data: Sections["data"], summary?: Sections["summary"]): Uint8Array {
  const builder = new McapRecordBuilder();
  const flush = (write: (builder: McapRecordBuilder) => unknown): Uint8Array => {
    builder.reset();
    const answered = write(builder);
    return Buffer.concat([builder.buffer, answered instanceof Uint8Array ? answered : Buffer.alloc(0)]);
  };
  const head = flush(() => {
    builder.writeMagic();
    builder.writeHeader({ profile: "", library: "hostile" });
  });
  const body = flush(data);
  const dataEnd = flush(() => builder.writeDataEnd({ dataSectionCrc: 0 }));
  const section = summary ? flush(summary) : Buffer.alloc(0);
  const summaryStart = section.byteLength > 0 ? head.byteLength + body.byteLength + dataEnd.byteLength : 0;
  const foot = flush(() => {
    builder.writeFooter({ summaryStart: BigInt(summaryStart), summaryOffsetStart: 0n, summaryCrc: 0 });
    builder.writeMagic();
  });
  return Buffer.concat([head, body, dataEnd, section, foot]);
}

function lyingRecord(contentBytes: bigint): Uint8Array {
  const record = Buffer.alloc(9);
  record[0] = 0x77;
  record.writeBigUInt64LE(contentBytes, 1);
  return record;
}

function attachmentBeyond(): Uint8Array {
  const file = Buffer.from(
    wrap((builder) => {
      builder.writeAttachment({
        logTime: 0n,
        createTime: 0n,
        name: "a",
        mediaType: "",
        data: Buffer.from("here it is"),
      });
    }),
  );
  file.writeBigUInt64LE(2n ** 45n, file.indexOf("here it is") - 8);
  return file;
}

function bomb({ promisedBytes }: { promisedBytes: number }): Uint8Array {
  return inChunk(Buffer.alloc(64 * MIB), promisedBytes);
}

function inChunk(records: Uint8Array, promisedBytes = records.byteLength): Uint8Array {
  return wrap((builder) => writeChunk(builder, records, promisedBytes));
}

function writeChunk(builder: McapRecordBuilder, records: Uint8Array, promisedBytes = records.byteLength): undefined {
  builder.writeChunk({
    messageStartTime: 1n,
    messageEndTime: 1n,
    uncompressedSize: BigInt(promisedBytes),
    uncompressedCrc: 0,
    compression: "zstd",
    records: zstdCompressSync(records),
  });
}

function emptyRecords(count: number): Uint8Array {
  const records = Buffer.alloc(9 * count);
  for (let at = 0; at < records.byteLength; at += 9) records[at] = 0x77;
  return records;
}

const channel = { id: 1, schemaId: 0, topic: "/t", messageEncoding: "json", metadata: new Map<string, string>() };

function channels({ count, ids }: { count: number; ids: number }): Uint8Array {
  const builder = new McapRecordBuilder();
  for (let index = 0; index < count; index += 1)
    builder.writeChannel({ ...channel, id: index % ids, topic: `/${index}` });
  return builder.buffer;
}

function channelsInSummary(): Uint8Array {
  const records = channels({ count: 1e5, ids: 65_536 });
  return wrap(
    () => undefined,
    () => records,
  );
}

function message(channelId: number) {
  return { channelId, sequence: 0, logTime: 1n, publishTime: 1n, data: new Uint8Array(0) };
}

function manyChannels({ nameLength }: { nameLength: number }): Uint8Array {
  const records = new McapRecordBuilder();
  for (let id = 0; id < 65_535; id += 1) {
    records.writeChannel({ ...channel, id, topic: `/${id}`.padEnd(nameLength, "x") });
    records.writeMessage(message(id));
  }
  return inChunk(records.buffer);
}

function sharedSchema(): Uint8Array {
  return wrap((builder) => {
    builder.writeSchema({ id: 1, name: "Large", encoding: "", data: new Uint8Array(8 * MIB) });
    for (let id = 1; id <= 20_000; id += 1) builder.writeChannel({ ...channel, id, schemaId: 1, topic: `/${id}` });
    builder.writeMessage(message(1));
    return undefined;
  });
}

function metadata({ count, bytes }: { count: number; bytes: number }): Uint8Array {
  const builder = new McapRecordBuilder();
  builder.writeMetadata({ name: "m", metadata: new Map(bytes > 0 ? [["k", "v".repeat(bytes)]] : []) });
  const record = builder.buffer;
  return wrap(() => Buffer.alloc(record.byteLength * count, record));
}

function manyEntries(): Uint8Array {
  const entries = Array.from({ length: 650_000 }, (_, index): [string, string] => [index.toString(36), ""]);
  return wrap((builder) => {
    builder.writeMetadata({ name: "m", metadata: new Map(entries) });
    return undefined;
  });
}

function oneMessage(): Uint8Array {
  const records = new McapRecordBuilder();
  records.writeChannel(channel);
  records.writeMessage(message(1));
  return records.buffer;
}

function lyingIndex(): Uint8Array {
  return wrap((builder) => {
    writeChunk(builder, oneMessage());
    builder.writeMessageIndex({ channelId: 1, records: Array.from({ length: 1000 }, () => [1n, 0n]) });
    return undefined;
  });
}

function overlappingIndexes(): Uint8Array {
  return wrap(
    (builder) => writeChunk(builder, oneMessage()),
    (builder) => {
      for (let count = 0; count < 10_000; count += 1)
        builder.writeChunkIndex({
          messageStartTime: 1n,
          messageEndTime: 1n,
          chunkStartOffset: BigInt(8 + count),
          chunkLength: 2n ** 40n,
          messageIndexOffsets: new Map(),
          messageIndexLength: 2n ** 40n,
          compression: "zstd",
          compressedSize: 2n ** 40n,
          uncompressedSize: 2n ** 40n,
        });
      return undefined;
    },
  );
}
