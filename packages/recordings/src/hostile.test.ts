import assert from "node:assert/strict";
import { test } from "node:test";
import { crc32, zstdCompressSync } from "node:zlib";
import { McapRecordBuilder } from "@mcap/core";
import { compressFrameSync } from "lz4-napi";
import type { InspectLimits } from "./faults/limits.ts";
import { indexRecording } from "./inspect/index-recording.ts";
import { type InspectOptions, inspectRecording } from "./inspect/inspect.ts";
import { bytesSource, countReads } from "./sources/source.ts";
import { exportBytes, exportSource } from "./testing/export-bytes.ts";
import { makeBag } from "./testing/make-bag.ts";
import { makeMcap } from "./testing/make-mcap.ts";
import { readMessages } from "./testing/read-messages.ts";
import { slowTest } from "./testing/slow-test.ts";
import { writeMessages } from "./testing/write-messages.ts";

const MIB = 1024 * 1024;

/** A whole MCAP file around records; the summary may be anything. */
function wrap(
  write: (builder: McapRecordBuilder) => void,
  summary?: (builder: McapRecordBuilder, dataEnd: number) => void,
) {
  const builder = new McapRecordBuilder();
  builder.writeMagic();
  builder.writeHeader({ profile: "", library: "hostile" });
  write(builder);
  const dataEnd = builder.length;
  builder.writeDataEnd({ dataSectionCrc: 0 });
  const summaryStart = builder.length;
  summary?.(builder, dataEnd);
  const start = builder.length > summaryStart ? summaryStart : 0;
  builder.writeFooter({ summaryStart: BigInt(start), summaryOffsetStart: 0n, summaryCrc: 0 });
  builder.writeMagic();
  return builder.buffer;
}

async function codeOf(bytes: Uint8Array, options: Partial<InspectOptions> = {}): Promise<string> {
  const inspection = await inspectRecording(bytesSource(bytes), { fileName: "hostile.mcap", ...options });
  return "reason" in inspection ? inspection.reason.code : inspection.state;
}

const channel = { id: 1, schemaId: 0, topic: "/t", messageEncoding: "json", metadata: new Map<string, string>() };

function chunkOf(records: Uint8Array, promise: { uncompressedSize: number; compression: string }) {
  const { uncompressedSize, compression } = promise;
  const span = { messageStartTime: 0n, messageEndTime: 0n };
  return { ...span, uncompressedSize: BigInt(uncompressedSize), uncompressedCrc: 0, compression, records };
}

test("chunks that expand to more than they promise are refused without expanding them", async () => {
  const zeros = Buffer.alloc(16 * MIB);
  const bombs = { zstd: zstdCompressSync(zeros), lz4: compressFrameSync(zeros) };
  for (const [compression, bomb] of Object.entries(bombs)) {
    for (const uncompressedSize of [1, 1000, 256 * MIB]) {
      const bytes = wrap((builder) => builder.writeChunk(chunkOf(bomb, { uncompressedSize, compression })));
      assert.equal(await codeOf(bytes), "BadChunk", `${compression} ${uncompressedSize}`);
    }
    const tooLarge = wrap((builder) =>
      builder.writeChunk(chunkOf(bomb, { uncompressedSize: 256 * MIB + 1, compression })),
    );
    assert.equal(await codeOf(tooLarge), "ChunkTooLarge");
  }
});

test("a damaged chunk does not spoil the reading of the next file", async () => {
  for (const compression of ["lz4", "zstd"] as const) {
    const good = await makeMcap({ compression });
    const rubbish = wrap((builder) =>
      builder.writeChunk(chunkOf(Buffer.alloc(99, 1), { uncompressedSize: 500, compression })),
    );
    assert.equal(await codeOf(rubbish), "BadChunk");
    assert.equal(await codeOf(good, { verifyChunks: true }), "finished");
  }
});

test("many chunks that each expand within their promise are refused when together they are implausible", async () => {
  const bytes = wrap(
    (builder) => {
      for (let count = 0; count < 80; count += 1) {
        builder.writeChunk(chunkOf(Buffer.alloc(10), { uncompressedSize: 255 * MIB, compression: "" }));
        builder.writeMessageIndex({ channelId: 1, records: [[0n, 0n]] });
      }
    },
    (builder) => builder.writeChannel(channel),
  );
  assert.equal(await codeOf(bytes, { limits: { maxExpansion: 0 } }), "ExpandsTooMuch");
});

test("a flood of channels, schemas, metadata or attachments is refused at its limit", async () => {
  const limits: Partial<InspectLimits> = { maxChannels: 100, maxListedRecords: 100, maxHeldBytes: MIB };
  const channels = wrap((builder) => {
    for (let id = 1; id < 1000; id += 1) builder.writeChannel({ ...channel, id });
  });
  const metadata = wrap((builder) => {
    for (let count = 0; count < 1000; count += 1) builder.writeMetadata({ name: "m", metadata: new Map() });
  });
  const schemas = wrap((builder) => {
    for (let id = 1; id < 100; id += 1)
      builder.writeSchema({ id, name: "s", encoding: "", data: new Uint8Array(20_000) });
  });
  const attachments = wrap((builder) => {
    const empty = { logTime: 0n, createTime: 0n, name: "a", mediaType: "", data: new Uint8Array(0) };
    for (let count = 0; count < 1000; count += 1) builder.writeAttachment(empty);
  });
  assert.equal(await codeOf(channels, { limits }), "TooManyChannels");
  for (const bytes of [metadata, schemas, attachments]) assert.equal(await codeOf(bytes, { limits }), "TooManyRecords");
  const largeSchema = wrap((builder) =>
    builder.writeSchema({ id: 1, name: "s", encoding: "", data: new Uint8Array(20 * MIB) }),
  );
  assert.equal(await codeOf(largeSchema), "RecordTooLarge");
});

slowTest("two hundred thousand channel records under one id cost time, not memory", async () => {
  const bytes = wrap((builder) => {
    for (let count = 0; count < 200_000; count += 1) builder.writeChannel(channel);
  });
  assert.equal(await codeOf(bytes), "empty");
});

test("a million records of no length are walked over", async () => {
  const records = Buffer.alloc(9 * 1_000_000);
  for (let at = 0; at < records.byteLength; at += 9) records[at] = 0x77;
  const empty = wrap(() => undefined);
  const split = Buffer.from(empty).indexOf(Buffer.from([0x0f, 4, 0, 0, 0, 0, 0, 0, 0]));
  const bytes = Buffer.concat([empty.subarray(0, split), records, empty.subarray(split)]);
  assert.equal(await codeOf(bytes), "empty");
});

test("metadata indexes that all point at one record are not believed", async () => {
  let offset = 0;
  const bytes = wrap(
    (builder) => {
      offset = builder.length;
      builder.writeMetadata({ name: "m", metadata: new Map([["k", "v".repeat(100_000)]]) });
    },
    (builder, dataEnd) => {
      const length = BigInt(dataEnd - offset);
      for (let count = 0; count < 1000; count += 1)
        builder.writeMetadataIndex({ name: "m", offset: BigInt(offset), length });
      builder.writeStatistics(statistics({ metadataCount: 1000 }));
    },
  );
  const source = countReads(bytesSource(bytes));
  const inspection = await inspectRecording(source, { fileName: "a.mcap" });
  assert.ok(inspection.state === "empty");
  assert.equal(inspection.summary.metadata.length, 1);
  assert.ok(source.bytesRead < MIB);
});

test("indexes that point outside the file, or at another record, are not believed", async () => {
  for (const [at, length] of [
    [1n << 52n, 10n],
    [8n, 1n << 50n],
    [8n, 25n],
  ] as const) {
    const bytes = wrap(
      (builder) => builder.writeMetadata({ name: "true", metadata: new Map() }),
      (builder) => {
        builder.writeMetadataIndex({ name: "false", offset: at, length });
        builder.writeStatistics(statistics({ metadataCount: 1 }));
      },
    );
    const inspection = await inspectRecording(bytesSource(bytes), { fileName: "a.mcap" });
    assert.ok(inspection.state === "empty" && inspection.summary.method === "skim");
    assert.deepEqual(inspection.summary.metadata, [{ name: "true", metadata: {} }]);
  }
  const beyond = wrap(
    () => undefined,
    (builder) => {
      builder.writeMetadataIndex({ name: "x", offset: 1n << 63n, length: 1n });
    },
  );
  assert.equal(await codeOf(beyond), "empty");
});

test("a time that does not fit into signed nanoseconds refuses no file, and is reported", async () => {
  const message = { channelId: 1, sequence: 0, logTime: 2n ** 63n, publishTime: 0n, data: new Uint8Array(1) };
  const write = (builder: McapRecordBuilder): void => {
    builder.writeChannel(channel);
    builder.writeMessage(message);
    builder.writeMessage({ ...message, logTime: 5n });
    builder.writeMessage({ ...message, logTime: 7n });
  };
  const records = new McapRecordBuilder();
  write(records);
  const chunked = wrap((builder) => {
    builder.writeChunk(chunkOf(records.buffer, { uncompressedSize: records.length, compression: "" }));
  });
  for (const bytes of [wrap(write), chunked]) {
    for (const verifyChunks of [false, true]) {
      const found = await inspectRecording(bytesSource(bytes), { fileName: "a.mcap", verifyChunks });
      assert.ok(found.state === "finished");
      const { messageCount, startNs, endNs, damage } = found.summary;
      assert.deepEqual([messageCount, startNs, endNs], [3, 5n, 7n]);
      assert.equal(damage?.messagesDoubted, verifyChunks ? 1 : undefined);
    }
    const times = readMessages(await exportBytes(bytes)).map(({ logTimeNs }) => logTimeNs);
    assert.deepEqual(times, [5n, 7n, 2n ** 63n]);
  }
});

test("a message of a channel that the file does not have is a bad record", async () => {
  const bytes = wrap((builder) => {
    builder.writeMessage({ channelId: 9, sequence: 0, logTime: 1n, publishTime: 1n, data: new Uint8Array(1) });
  });
  assert.equal(await codeOf(bytes), "BadRecord");
  const redefined = wrap((builder) => {
    builder.writeChannel(channel);
    builder.writeChannel({ ...channel, topic: "/other" });
  });
  assert.equal(await codeOf(redefined), "BadRecord");
});

test("a summary that fails its checksum, or statistics that do not add up, only cost a skim; a verified file reports it", async () => {
  const bytes = new Uint8Array(await makeMcap({ chunkBytes: 20_000 }));
  const flipped = bytes.with(bytes.byteLength - 300, bytes.at(-300)! ^ 1);
  assert.equal(await codeOf(flipped), "finished");
  const verified = await inspectRecording(bytesSource(flipped), { fileName: "a.mcap", verifyChunks: true });
  assert.ok(verified.state === "finished");
  assert.ok(verified.summary.damage?.reasons.every(({ code }) => code === "BadSummary"));

  assert.deepEqual([verified.summary.damage?.chunksLost, verified.summary.damage?.messagesLost], [0, 0]);
  const wrong = wrap(
    (builder) => builder.writeMetadata({ name: "m", metadata: new Map() }),
    (builder) => builder.writeStatistics(statistics({ metadataCount: 7, messageCount: 5n })),
  );
  const inspection = await inspectRecording(bytesSource(wrong), { fileName: "a.mcap" });
  assert.ok(inspection.state === "empty" && inspection.summary.metadata.length === 1);
});

test("message indexes that contradict the messages are not believed, and no reason to refuse them", async () => {
  const bytes = Buffer.from(await makeMcap({ compression: "", chunkBytes: 20_000 }));
  const sound = await inspectRecording(bytesSource(bytes), { fileName: "a.mcap", verifyChunks: true });
  let found = 0;
  for (const at of recordsOf(bytes)) {
    if (bytes[at] !== 0x07 || bytes.readUInt32LE(at + 11) <= 32) continue;
    found += 1;
    const lying = Buffer.from(bytes);
    lying.writeUInt32LE(0, bytes.byteLength - 12); // the summary has no checksum
    lying.writeBigUInt64LE(lying.readBigUInt64LE(at + 15 + 16) + 1n, at + 15 + 16);
    const verified = await inspectRecording(bytesSource(lying), { fileName: "a.mcap", verifyChunks: true });
    assert.ok(verified.state === "finished" && sound.state === "finished");
    assert.deepEqual(verified.summary.topics, sound.summary.topics);
    break;
  }
  assert.ok(found > 0);
});

test("an attachment that was changed on disk is found and reported; the messages are read all the same", async () => {
  const bytes = new Uint8Array(await makeMcap({ attachments: [{ name: "a", data: Buffer.alloc(5000, 3) }] }));
  const at = Buffer.from(bytes).indexOf(Buffer.alloc(5000, 3)) + 2000;
  assert.equal(await codeOf(bytes.with(at, 4)), "finished");
  const verified = await inspectRecording(bytesSource(bytes.with(at, 4)), { fileName: "a.mcap", verifyChunks: true });
  assert.ok(verified.state === "finished");
  assert.deepEqual([verified.summary.damage?.attachmentsLost, verified.summary.attachments.length], [1, 0]);
});

test("how many messages are lost is unknown for a damaged chunk whose message index has half an entry", async () => {
  const bytes = Buffer.from(await makeMcap({ compression: "", chunkBytes: 20_000 }));
  bytes.writeUInt32LE(0, bytes.byteLength - 12); // the summary has no checksum
  const chunkAt = [...recordsOf(bytes)].find((at) => bytes[at] === 0x06)!;
  const indexAt = chunkAt + 9 + Number(bytes.readBigUInt64LE(chunkAt + 1));
  assert.equal(bytes[indexAt], 0x07);
  bytes[indexAt - 1]! ^= 1;
  const damageOf = async () => {
    const write = async () => undefined;
    const found = await indexRecording(bytesSource(bytes), { fileName: "a.mcap", isSalvage: true, write });
    assert.ok(found.state === "finished" && found.summary.damage);
    return found.summary.damage;
  };
  const known = await damageOf();
  assert.ok(known.isCountKnown && known.messagesLost > 0);
  bytes.writeUInt32LE(bytes.readUInt32LE(indexAt + 11) - 8, indexAt + 11);
  const { isCountKnown, messagesLost, chunksLost } = await damageOf();
  assert.deepEqual([isCountKnown, messagesLost, chunksLost], [false, 0, 1]);
});

test("a chunk among the records of the summary counts, also behind one that is damaged", async () => {
  const chunk = (logTime: bigint) => {
    const records = new McapRecordBuilder();
    records.writeChannel(channel);
    records.writeMessage({ channelId: 1, sequence: 0, logTime, publishTime: 0n, data: new Uint8Array(1) });
    const crc = { uncompressedCrc: crc32(records.buffer) };
    return { ...chunkOf(records.buffer, { uncompressedSize: records.length, compression: "" }), ...crc };
  };
  const index = { messageStartTime: 1n, messageEndTime: 1n, chunkStartOffset: 8n, chunkLength: 1n, compression: "" };
  const sizes = { messageIndexOffsets: new Map(), messageIndexLength: 0n, compressedSize: 1n, uncompressedSize: 1n };
  const bytes = Buffer.from(
    wrap(
      (builder) => builder.writeChunk(chunk(1n)),
      (builder) => {
        builder.writeChunkIndex({ ...index, ...sizes });
        builder.writeChunk(chunk(2n));
      },
    ),
  );
  const indexAt = [...recordsOf(bytes)].find((at) => bytes[at] === 0x08)!;
  bytes.writeUInt32LE(1000, indexAt + 9 + 32);
  const overwritten = Buffer.from(bytes);
  overwritten[indexAt] = 0;
  for (const damaged of [bytes, overwritten]) {
    const found = await inspectRecording(bytesSource(damaged), { fileName: "a.mcap", verifyChunks: true });
    assert.ok(found.state === "finished" && found.summary.damage);
    assert.equal(found.summary.messageCount, 2);
  }
});

test("a chunk that swallows what stands behind it is salvaged, and not passed on as it is", async () => {
  const messages = Array.from({ length: 300 }, (_, index) => {
    return { topic: "/t", logTimeNs: BigInt(index + 1), data: Buffer.alloc(40, index) };
  });
  const file = { messages, topics: ["/t"], schema: "{}", chunkBytes: 5000, isIndexed: false } as const;
  const whole = await writeMessages({ ...file, compression: "lz4" });
  const bytes = Buffer.from(whole);
  const [first, , third] = [...recordsOf(bytes)].filter((at) => bytes[at] === 0x06);
  bytes.writeBigUInt64LE(BigInt(third! - first! - 9), first! + 1);
  assert.equal(await codeOf(bytes, { verifyChunks: true }), "BadRecord");
  const source = exportSource(bytes, { fileName: "a.mcap", isSalvage: true });
  const salvaged = await exportBytes([source], { compression: "lz4" });
  assert.equal(readMessages(salvaged).length, readMessages(whole).length);
});

test("schemas with the id 0 are ignored, however many there are", async () => {
  const bytes = wrap((builder) => {
    for (const name of ["one", "other"]) builder.writeSchema({ id: 0, name, encoding: "", data: new Uint8Array(1) });
    builder.writeChannel(channel);
    builder.writeMessage({ channelId: 1, sequence: 0, logTime: 1n, publishTime: 1n, data: new Uint8Array(1) });
  });
  for (const verifyChunks of [false, true]) assert.equal(await codeOf(bytes, { verifyChunks }), "finished");
});

test("a file that makes no sense behind data that stand behind its end is damaged, and not empty", async () => {
  const bytes = wrap((builder) => {
    builder.writeDataEnd({ dataSectionCrc: 0 });
    builder.writeChunk(chunkOf(new Uint8Array(0), { uncompressedSize: 0, compression: "" }));
    builder.writeMetadata({ name: "m", metadata: new Map() });
    builder.writeMessage({ channelId: 1, sequence: 0, logTime: 1n, publishTime: 1n, data: new Uint8Array(1) });
  });
  const broken = Buffer.from(bytes);
  broken[[...recordsOf(broken)].find((at) => broken[at] === 0x0c)!] = 0;
  for (const verifyChunks of [false, true]) assert.equal(await codeOf(broken, { verifyChunks }), "BadRecord");
});

test("an attachment that says it is longer than its record is left out, also when every byte is read", async () => {
  const bytes = Buffer.from(
    await makeMcap({ isIndexed: false, attachments: [{ name: "a", data: Buffer.alloc(5000, 3) }] }),
  );
  bytes.writeBigUInt64LE(2n ** 45n, bytes.indexOf(Buffer.alloc(5000, 3)) - 8);
  for (const verifyChunks of [false, true]) {
    const found = await inspectRecording(bytesSource(bytes), { fileName: "a.mcap", verifyChunks });
    assert.ok(found.state === "finished");
    assert.deepEqual(found.summary.attachments, []);
  }
});

test("flipped bits in messages outside chunks are found by the checksum of the data section", async () => {
  const bytes = new Uint8Array(await makeMcap({ isChunked: false }));
  const at = Buffer.from(bytes).indexOf("battery");
  assert.equal(await codeOf(bytes, { verifyChunks: true }), "finished");
  assert.equal(await codeOf(bytes.with(at, 0x42), { verifyChunks: true }), "BadRecord");
});

test("a bag whose index lies about connections, chunks or times is refused", async () => {
  const bytes = Buffer.from(await makeBag());
  const patch = (field: string, value: Uint8Array): Uint8Array => {
    const patched = Buffer.from(bytes);
    patched.set(value, patched.lastIndexOf(field) + field.length);
    return patched;
  };
  const cases: [string, Uint8Array][] = [
    ["NoEnd", patch("index_pos=", Buffer.from("ffffffffff000000", "hex"))],
    ["BadSummary", patch("index_pos=", Buffer.from("1000000000000000", "hex"))],
    ["BadSummary", patch("conn_count=", Buffer.from("ffffff7f", "hex"))],
    ["NoEnd", patch("chunk_count=", Buffer.from("ffffff7f", "hex"))],
    ["BadSummary", patch("chunk_pos=", Buffer.from("ffffffff00000000", "hex"))],
    ["BadSummary", patch("start_time=", Buffer.from("00000000ffffffff", "hex"))],
    ["BadSummary", patch("start_time=", Buffer.from("ffffffff00000000", "hex"))],
  ];
  for (const [code, lying] of cases) {
    assert.equal(await codeOf(lying, { fileName: "a.bag" }), code);
  }
});

test("messages of more connections than a bag may have are refused before they are counted", async () => {
  const bytes = Buffer.from(await makeBag({ compression: "none" }));
  const firstMessage = bytes.indexOf("op=\x02");
  const connection = bytes.lastIndexOf("conn=", firstMessage + 40) + "conn=".length;
  bytes.writeUInt32LE(77, connection);
  const options = { fileName: "a.bag", verifyChunks: true };
  assert.equal(await codeOf(bytes, options), "BadRecord");
  assert.equal(await codeOf(bytes, { ...options, limits: { maxChannels: 2 } }), "TooManyChannels");
});

/** Where the records stand. */
function* recordsOf(bytes: Buffer): Generator<number> {
  for (let at = 8; at < bytes.byteLength - 8; at += 9 + Number(bytes.readBigUInt64LE(at + 1))) yield at;
}

function statistics(about: { metadataCount?: number; messageCount?: bigint }) {
  return {
    messageCount: 0n,
    schemaCount: 0,
    channelCount: 0,
    attachmentCount: 0,
    metadataCount: 0,
    chunkCount: 0,
    messageStartTime: 0n,
    messageEndTime: 0n,
    channelMessageCounts: new Map<number, bigint>(),
    ...about,
  };
}
