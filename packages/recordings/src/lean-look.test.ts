import assert from "node:assert/strict";
import { test } from "node:test";
import { constants, zstdCompressSync } from "node:zlib";
import { McapRecordBuilder } from "@mcap/core";
import { type InspectLimits, leanLimits } from "./faults/limits.ts";
import { inspectRecording, inspectSummary } from "./inspect/inspect.ts";
import { bytesSource } from "./sources/source.ts";
import { makeBag } from "./testing/make-bag.ts";
import { makeMcap } from "./testing/make-mcap.ts";

const channel = { id: 1, schemaId: 0, topic: "/t", messageEncoding: "json", metadata: new Map<string, string>() };
const message = { channelId: 1, sequence: 0, logTime: 5n, publishTime: 5n, data: new Uint8Array(1) };

function wrap(write: (builder: McapRecordBuilder) => void): Uint8Array {
  const builder = new McapRecordBuilder();
  builder.writeMagic();
  builder.writeHeader({ profile: "", library: "large" });
  write(builder);
  builder.writeDataEnd({ dataSectionCrc: 0 });
  builder.writeFooter({ summaryStart: 0n, summaryOffsetStart: 0n, summaryCrc: 0 });
  builder.writeMagic();
  return builder.buffer;
}

async function look(bytes: Uint8Array, limits: Partial<InspectLimits> = {}) {
  const found = await inspectRecording(bytesSource(bytes), {
    fileName: "a.mcap",
    limits: { ...leanLimits, ...limits },
  });
  assert.ok(found.state === "finished", "reason" in found ? found.reason.text : found.state);
  return found.summary;
}

function chunkOf(
  write: (builder: McapRecordBuilder) => void,
  about: { compression?: "" | "zstd"; windowLog?: number } = {},
) {
  const records = new McapRecordBuilder();
  write(records);
  const { compression = "", windowLog = 0 } = about;
  const params = windowLog > 0 ? { [constants.ZSTD_c_windowLog]: windowLog } : {};
  return {
    messageStartTime: 5n,
    messageEndTime: 9n,
    uncompressedSize: BigInt(records.length),
    uncompressedCrc: 0,
    compression,
    records: compression === "" ? new Uint8Array(records.buffer) : zstdCompressSync(records.buffer, { params }),
  };
}

for (const place of ["among the messages", "in a chunk"] as const)
  test(`if there are more channels than are held, the first are listed, and every message is counted, ${place}`, async () => {
    const write = (builder: McapRecordBuilder) => {
      for (let id = 1; id <= 50; id += 1) {
        builder.writeChannel({ ...channel, id, topic: `/${id}` });
        builder.writeMessage({ ...message, channelId: id, logTime: BigInt(id) });
      }
    };
    const bytes = wrap((builder) => (place === "in a chunk" ? builder.writeChunk(chunkOf(write)) : write(builder)));
    const summary = await look(bytes, { maxChannels: 20 });
    assert.deepEqual(
      summary.topics.map(({ topic }) => topic),
      Array.from({ length: 20 }, (_, index) => `/${index + 1}`),
    );
    assert.deepEqual([summary.messageCount, summary.startNs, summary.endNs], [50, 1n, 50n]);
    assert.deepEqual(summary.leftOut, { channels: 30, attachments: 0, metadata: 0, chunks: 0 });
  });

test("a schema that is too large to be held is known by its hash, and its topic is listed all the same", async () => {
  const bytes = wrap((builder) => {
    for (const repeat of [1, 2]) {
      builder.writeSchema({ id: 1, name: "Large", encoding: "x", data: new Uint8Array(300_000).fill(7) });
      builder.writeChannel({ ...channel, schemaId: 1 });
      builder.writeMessage({ ...message, sequence: repeat });
    }
  });
  const [held] = (await look(bytes)).topics;
  const summary = await look(bytes, { maxHeldBytes: 100_000 });
  const [topic] = summary.topics;
  assert.deepEqual({ ...topic, schema: held!.schema }, { ...held, isSchemaLeftOut: true });
  assert.equal(topic!.schema.byteLength, 0);
  assert.equal(summary.leftOut, undefined);
});

test("records that are too large, and more of them than are held, are counted and not read", async () => {
  const bytes = wrap((builder) => {
    builder.writeChannel(channel);
    builder.writeMessage(message);
    builder.writeMetadata({ name: "small", metadata: new Map() });
    builder.writeMetadata({ name: "large", metadata: new Map([["k", "v".repeat(5000)]]) });
    builder.writeChannel({ ...channel, id: 2, topic: "/large", metadata: new Map([["k", "v".repeat(5000)]]) });
    builder.writeMessage({ ...message, channelId: 2 });
    const attachment = { logTime: 1n, createTime: 1n, mediaType: "", data: new Uint8Array(9) };
    for (const name of ["a", "n".repeat(10_000), "b", "c"]) builder.writeAttachment({ ...attachment, name });
  });
  const summary = await look(bytes, { maxMapBytes: 4000, maxListedRecords: 2 });
  assert.deepEqual(
    [summary.topics, summary.metadata, summary.attachments].map((list) => list.length),
    [1, 1, 2],
  );
  assert.equal(summary.messageCount, 2);
  assert.deepEqual(summary.leftOut, { channels: 1, attachments: 2, metadata: 1, chunks: 0 });
});

test("a chunk that cannot be looked into within the bound is believed in its span, and said to be left out", async () => {
  const write = (builder: McapRecordBuilder) => {
    builder.writeChannel(channel);
    builder.writeMessage({ ...message, data: new Uint8Array(40 * 1024 * 1024) });
  };
  const wide = wrap((builder) => builder.writeChunk(chunkOf(write, { compression: "zstd", windowLog: 25 })));
  const summary = await look(wide);
  assert.deepEqual([summary.startNs, summary.endNs, summary.messageCount], [5n, 9n, 1]);
  assert.deepEqual(summary.leftOut, { channels: 0, attachments: 0, metadata: 0, chunks: 1 });
  const usual = wrap((builder) => builder.writeChunk(chunkOf(write, { compression: "zstd" })));
  const { topics, leftOut } = await look(usual);
  assert.deepEqual([topics.length, leftOut], [1, undefined], "one message of 40 MiB is no reason");
});

test("a summary with more than is held does not hide what is in the file", async () => {
  const topics = Array.from({ length: 40 }, (_, index) => ({ topic: `/${index}`, kind: "imu", rateHz: 10 }) as const);
  const bytes = new Uint8Array(await makeMcap({ topics }));
  const whole = await look(bytes);
  const summary = await look(bytes, { maxChannels: 10 });
  assert.deepEqual(
    [summary.messageCount, summary.startNs, summary.endNs],
    [whole.messageCount, whole.startNs, whole.endNs],
  );
  assert.deepEqual([summary.topics.length, summary.leftOut?.channels], [10, 30]);
});

test("the summary alone says what an indexed recording is, in either format, or nothing is answered", async () => {
  for (const [fileName, bytes] of [
    ["a.mcap", await makeMcap()],
    ["a.bag", await makeBag()],
  ] as const) {
    const source = bytesSource(bytes);
    assert.deepEqual(await inspectSummary(source, { fileName }), await inspectRecording(source, { fileName }));
    assert.equal(await inspectSummary(bytesSource(bytes.slice(0, -50)), { fileName }), undefined);
  }
  const unindexed = bytesSource(await makeMcap({ isIndexed: false }));
  assert.equal(await inspectSummary(unindexed, { fileName: "a.mcap" }), undefined);
});
