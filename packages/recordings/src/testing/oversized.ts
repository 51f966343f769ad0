import { closeSync, openSync, writeSync } from "node:fs";
import { constants, crc32, zstdCompressSync } from "node:zlib";
import { McapRecordBuilder } from "@mcap/core";
import { compressFrameSync } from "lz4-napi";

export interface OversizedFile {
  /** The name also says what the file does. */
  readonly fileName: string;
  /** The state that an agent's look at it gives. */
  readonly state: "finished" | "empty" | "incomplete" | "damaged";
  /** True if its summary does not list all that is in it. */
  readonly isPartial?: boolean;
  pieces(): Generator<Uint8Array>;
}

const MIB = 1024 * 1024;

/** Recordings, most of them sound, that would take their reader hundreds of megabytes of memory if it held what they hold. */
export const oversizedFiles: readonly OversizedFile[] = [
  { fileName: "one-chunk-of-250-mb.zstd.mcap", state: "finished", pieces: () => chunks({ count: 1, pack: zstd }) },
  { fileName: "one-chunk-of-250-mb.lz4.mcap", state: "finished", pieces: () => chunks({ count: 1, pack: lz4 }) },
  {
    fileName: "forty-chunks-of-250-mb.mcap",
    state: "finished",
    isPartial: true,
    pieces: () => chunks({ count: 40, pack: zstd }),
  },
  {
    fileName: "a-window-of-128-mb.mcap",
    state: "finished",
    isPartial: true,
    pieces: () => chunks({ count: 1, pack: wideZstd }),
  },
  { fileName: "a-small-chunk-that-is-250-mb.lz4.mcap", state: "damaged", pieces: lyingChunk },
  { fileName: "65535-channels.mcap", state: "finished", isPartial: true, pieces: () => channels({ isInChunk: false }) },
  {
    fileName: "65535-channels-in-each-of-ten-chunks.mcap",
    state: "finished",
    isPartial: true,
    pieces: () => channels({ isInChunk: true }),
  },
  { fileName: "schemas-of-15-mb.mcap", state: "finished", pieces: () => schemas({ isInChunk: false }) },
  { fileName: "schemas-of-15-mb-in-a-chunk.mcap", state: "finished", pieces: () => schemas({ isInChunk: true }) },
  { fileName: "summary-of-200-mb.mcap", state: "finished", pieces: () => largeSummary(3_000_000) },
  {
    fileName: "metadata-of-200-mb.mcap",
    state: "finished",
    isPartial: true,
    pieces: () => metadata({ count: 1, bytes: 200 * MIB }),
  },
  {
    fileName: "a-million-metadata-records.mcap",
    state: "finished",
    isPartial: true,
    pieces: () => metadata({ count: 1e6, bytes: 0 }),
  },
  { fileName: "attachment-names-of-5-mb.mcap", state: "finished", isPartial: true, pieces: longNames },
  { fileName: "chunk-of-250-mb.bz2.bag", state: "incomplete", pieces: () => bag({ compression: "bz2" }) },
  { fileName: "chunk-of-250-mb.lz4.bag", state: "incomplete", pieces: () => bag({ compression: "lz4" }) },
  { fileName: "connections-of-12-mb.bag", state: "incomplete", pieces: () => bag({ connectionBytes: 12 * MIB }) },
];

/** Writes the file in pieces, because some files are larger than what should be held. */
export function writeOversized(path: string, { pieces }: OversizedFile): void {
  const file = openSync(path, "w");
  try {
    for (const piece of pieces()) writeSync(file, piece);
  } finally {
    closeSync(file);
  }
}

const channel = { id: 1, schemaId: 0, topic: "/t", messageEncoding: "json", metadata: new Map<string, string>() };
const message = { channelId: 1, sequence: 0, logTime: 1n, publishTime: 1n, data: new Uint8Array(0) };

function build(write: (builder: McapRecordBuilder) => unknown): Uint8Array {
  const builder = new McapRecordBuilder();
  write(builder);
  return new Uint8Array(builder.buffer);
}

function head(): Uint8Array {
  return build((builder) => {
    builder.writeMagic();
    builder.writeHeader({ profile: "", library: "oversized" });
  });
}

/** `summaryStart` is 0 without a summary. */
function tail(summaryStart = 0): Uint8Array {
  return build((builder) => {
    builder.writeFooter({ summaryStart: BigInt(summaryStart), summaryOffsetStart: 0n, summaryCrc: 0 });
    builder.writeMagic();
  });
}

function dataEnd(): Uint8Array {
  return build((builder) => builder.writeDataEnd({ dataSectionCrc: 0 }));
}

/** Makes the records of one message of zeros and of its channel. */
function records(bytes: number): Buffer {
  const start = build((builder) => {
    builder.writeChannel(channel);
    builder.writeMessage(message);
  });
  const all = Buffer.concat([start, Buffer.alloc(bytes - start.byteLength)]);
  all.writeBigUInt64LE(BigInt(22 + bytes - start.byteLength), start.byteLength - 31 + 1);
  return all;
}

interface Packed {
  readonly compression: string;
  readonly bytes: Uint8Array;
}

type Pack = (bytes: Uint8Array) => Packed;

const zstd: Pack = (bytes) => ({ compression: "zstd", bytes: zstdCompressSync(bytes) });
const lz4: Pack = (bytes) => ({ compression: "lz4", bytes: compressFrameSync(Buffer.from(bytes)) });
const wideZstd: Pack = (bytes) => {
  const params = { [constants.ZSTD_c_windowLog]: 27, [constants.ZSTD_c_enableLongDistanceMatching]: 1 };
  return { compression: "zstd", bytes: zstdCompressSync(bytes, { params }) };
};

function chunkOf(content: Uint8Array, { compression, bytes }: Packed, promisedBytes = content.byteLength): Uint8Array {
  return build((builder) =>
    builder.writeChunk({
      messageStartTime: 1n,
      messageEndTime: 1n,
      uncompressedSize: BigInt(promisedBytes),
      uncompressedCrc: promisedBytes === content.byteLength ? crc32(content) : 0,
      compression,
      records: bytes,
    }),
  );
}

function* chunks({ count, pack }: { count: number; pack: Pack }): Generator<Uint8Array> {
  const content = records(250_000_000);
  const chunk = chunkOf(content, pack(content));
  yield head();
  for (let index = 0; index < count; index += 1) yield chunk;
  yield dataEnd();
  yield tail();
}

function* lyingChunk(): Generator<Uint8Array> {
  const content = records(250_000_000);
  yield head();
  yield chunkOf(content, lz4(content), 1000);
  yield dataEnd();
  yield tail();
}

function* channels({ isInChunk }: { isInChunk: boolean }): Generator<Uint8Array> {
  const content = build((builder) => {
    for (let id = 0; id < 65_535; id += 1) {
      builder.writeChannel({ ...channel, id, topic: `/${id}`.padEnd(120, "x") });
      builder.writeMessage({ ...message, channelId: id });
    }
  });
  yield head();
  if (isInChunk) {
    const chunk = chunkOf(content, { compression: "", bytes: content });
    for (let index = 0; index < 10; index += 1) yield chunk;
  } else yield content;
  yield dataEnd();
  yield tail();
}

function* schemas({ isInChunk }: { isInChunk: boolean }): Generator<Uint8Array> {
  const content = build((builder) => {
    for (let id = 1; id <= 4; id += 1) {
      builder.writeSchema({ id, name: `S${id}`, encoding: "x", data: new Uint8Array(15 * MIB).fill(id) });
      builder.writeChannel({ ...channel, id, schemaId: id, topic: `/${id}` });
      builder.writeMessage({ ...message, channelId: id });
    }
  });
  yield head();
  yield isInChunk ? chunkOf(content, zstd(content)) : content;
  yield dataEnd();
  yield tail();
}

function* largeSummary(entries: number): Generator<Uint8Array> {
  const data = Buffer.concat([head(), records(1000), dataEnd()]);
  yield data;
  const entry = build((builder) =>
    builder.writeChunkIndex({
      messageStartTime: 1n,
      messageEndTime: 1n,
      chunkStartOffset: 8n,
      chunkLength: 1n,
      messageIndexOffsets: new Map(),
      messageIndexLength: 0n,
      compression: "",
      compressedSize: 1n,
      uncompressedSize: 1n,
    }),
  );
  yield* repeated(entry, entries);
  yield tail(data.byteLength);
}

function* repeated(bytes: Uint8Array, count: number): Generator<Uint8Array> {
  const block = Buffer.alloc(bytes.byteLength * 10_000, bytes);
  for (let left = count; left > 0; left -= 10_000) yield block.subarray(0, Math.min(left, 10_000) * bytes.byteLength);
}

function* metadata({ count, bytes }: { count: number; bytes: number }): Generator<Uint8Array> {
  yield head();
  yield records(1000);
  const record = build((builder) =>
    builder.writeMetadata({ name: "m", metadata: new Map(bytes > 0 ? [["k", "v".repeat(bytes)]] : []) }),
  );
  yield* count === 1 ? [record] : repeated(record, count);
  yield dataEnd();
  yield tail();
}

function* longNames(): Generator<Uint8Array> {
  yield head();
  yield records(1000);
  for (let count = 0; count < 5; count += 1)
    yield build((builder) =>
      builder.writeAttachment({
        logTime: 1n,
        createTime: 1n,
        name: "n".repeat(5 * MIB),
        mediaType: "text/plain",
        data: new Uint8Array(10),
      }),
    );
  yield dataEnd();
  yield tail();
}

/** A bag that was never closed: only its chunks say what is in it. */
function* bag(options: { compression?: "bz2" | "lz4"; connectionBytes?: number }): Generator<Uint8Array> {
  const { compression = "none", connectionBytes = 100 } = options;
  yield Buffer.from("#ROSBAG V2.0\n");
  const number = (value: number) => Buffer.from(Uint32Array.of(value).buffer);
  yield bagRecord(
    { op: Buffer.of(3), index_pos: Buffer.alloc(8), conn_count: number(0), chunk_count: number(0) },
    Buffer.alloc(0),
  );
  const definition = "x".repeat(connectionBytes);
  const fields = { type: Buffer.from("T"), md5sum: Buffer.from("*"), message_definition: Buffer.from(definition) };
  const connection = bagRecord({ op: Buffer.of(7), conn: number(0), topic: Buffer.from("/t") }, fieldsOf(fields));
  const header = { op: Buffer.of(2), conn: number(0), time: Buffer.alloc(8) };
  const dataBytes = options.compression ? 250_000_000 - connection.byteLength - 100 : 10;
  const content = Buffer.concat([connection, bagRecord(header, Buffer.alloc(dataBytes))]);
  const bytes = packed(content, compression);
  yield bagRecord({ op: Buffer.of(5), compression: Buffer.from(compression), size: number(content.byteLength) }, bytes);
}

/** The beginning of bzip2 is enough, because what matters is how much it promises. */
function packed(content: Buffer, compression: string): Uint8Array {
  if (compression === "lz4") return compressFrameSync(content);
  return compression === "bz2" ? Buffer.from("BZh91AY&SY") : content;
}

function fieldsOf(fields: Readonly<Record<string, Uint8Array>>): Buffer {
  const parts = Object.entries(fields).map(([name, value]) => Buffer.concat([Buffer.from(`${name}=`), value]));
  return Buffer.concat(parts.flatMap((part) => [lengthOf(part), part]));
}

function bagRecord(header: Readonly<Record<string, Uint8Array>>, data: Uint8Array): Buffer {
  const fields = fieldsOf(header);
  return Buffer.concat([lengthOf(fields), fields, lengthOf(data), data]);
}

function lengthOf({ byteLength }: Uint8Array): Buffer {
  return Buffer.from(Uint32Array.of(byteLength).buffer);
}
