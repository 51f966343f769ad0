import assert from "node:assert/strict";
import { test } from "node:test";
import { crc32 } from "node:zlib";
import { McapRecordBuilder, type McapTypes } from "@mcap/core";
import fc from "fast-check";
import { inspectRecording } from "../inspect/inspect.ts";
import { bytesSource, countReads } from "../sources/source.ts";
import type { MetadataRecord } from "../survey/summary.ts";
import { collect } from "../testing/collect.ts";
import { exportBytes, exportSource, indexedSource } from "../testing/export-bytes.ts";
import { makeBag } from "../testing/make-bag.ts";
import { makeMcap } from "../testing/make-mcap.ts";
import { propertyRuns } from "../testing/property-runs.ts";
import { readBagMessages } from "../testing/read-bag-messages.ts";
import {
  contentOf,
  type ReadMessage,
  readIndexedMessages,
  readMessages,
  readRecords,
} from "../testing/read-messages.ts";
import { refusedWith } from "../testing/refused-with.ts";
import { firstCases } from "../testing/slow-test.ts";
import { writeMessages } from "../testing/write-messages.ts";
import { exportMcap } from "./export-mcap.ts";

const MIB = 1024 * 1024;
const START_NS = 1_767_323_045_000_000_000n;

function inOrder(messages: readonly ReadMessage[]): ReadMessage[] {
  return messages.toSorted((a, b) => Number(a.logTimeNs - b.logTimeNs));
}

test("an export holds the same messages in order of log time, from any kind of MCAP, in any compression", async () => {
  for (const [variant, ...compressions] of [
    [{}, "lz4", "", "zstd"],
    [{ isIndexed: false }, "zstd", "", "lz4"],
    [{ isChunked: false }, "zstd", "", "lz4"],
    [{ disorderNs: 900_000_000n, chunkBytes: 10_000 }, "", "lz4", "zstd"],
  ] as const) {
    const bytes = await makeMcap(variant);
    for (const compression of firstCases(1, compressions)) {
      const exported = await exportBytes(bytes, { compression });
      assert.deepEqual(contentOf(readMessages(exported)), contentOf(inOrder(readMessages(bytes))));
      assert.deepEqual(contentOf(await readIndexedMessages(exported)), contentOf(readMessages(exported)));
      const used = new Set(
        readRecords(exported).records.flatMap((record) => (record.type === "Chunk" ? [record.compression] : [])),
      );
      assert.deepEqual([...used], [compression]);
    }
  }
});

test("topics and both ends of the time window select, inclusively", async () => {
  const bytes = await makeMcap({ chunkBytes: 10_000 });
  const topics = ["/imu", "/log"];
  const [from, to] = [START_NS + 500_000_000n, START_NS + 1_000_000_000n];
  const exported = readMessages(await exportBytes(bytes, { topics, startNs: from, endNs: to }));
  const expected = readMessages(bytes).filter(
    ({ topic, logTimeNs }) => topics.includes(topic) && logTimeNs >= from && logTimeNs <= to,
  );
  assert.deepEqual(contentOf(exported), contentOf(expected));
  assert.deepEqual([exported[0]!.logTimeNs, exported.at(-1)!.logTimeNs], [from, to]);
  assert.equal(readMessages(await exportBytes(bytes, { topics: [] })).length, readMessages(bytes).length);
});

test("an export reads only the chunks that may hold what was asked for", async () => {
  const bytes = await makeMcap({ durationSeconds: 20, chunkBytes: 20_000, compression: "" });
  const source = countReads(bytesSource(bytes));
  const selection = { startNs: START_NS + 5_000_000_000n, endNs: START_NS + 5_100_000_000n };
  const { openIndex } = await indexedSource(bytes);
  await exportBytes([exportSource(source, { openIndex })], { compression: "", ...selection });
  assert.ok(source.bytesRead < bytes.byteLength / 20, `${source.bytesRead} of ${bytes.byteLength}`);
});

test("nothing selected is a valid empty file", async () => {
  for (const selection of [{ topics: ["/none"] }, { startNs: 1n, endNs: 2n }]) {
    const exported = await exportBytes(await makeMcap(), selection);
    assert.deepEqual(readMessages(exported), []);
    const inspection = await inspectRecording(bytesSource(exported), { fileName: "a.mcap", verifyChunks: true });
    assert.equal(inspection.state, "empty");
  }
});

test("an export is proven complete by its own summary, and every checksum in it is right", async () => {
  const metadata: MetadataRecord[] = [
    { name: "downlink", metadata: { deviceName: "r2" } },
    { name: "note", metadata: { a: "b" } },
  ];
  const attachments = [{ name: "big.bin", mediaType: "x/y", data: Buffer.alloc(3 * MIB, 5), logTimeNs: 9n }];
  const bytes = await makeMcap({ metadata, attachments, profile: "ros2" });
  const exported = await exportBytes(bytes, { includeAttachments: true });
  const quick = await inspectRecording(bytesSource(exported), { fileName: "a.mcap" });
  assert.ok(quick.state === "finished");
  assert.equal(quick.summary.method, "index");
  assert.equal(quick.summary.profile, "ros2");
  assert.deepEqual(quick.summary.metadata, metadata);
  const [attachment] = quick.summary.attachments;
  const { dataOffset, sizeBytes } = attachment!;
  assert.deepEqual(exported.subarray(dataOffset, dataOffset + sizeBytes), attachments[0]!.data);
  const thorough = await inspectRecording(bytesSource(exported), { fileName: "a.mcap", verifyChunks: true });
  assert.ok(thorough.state === "finished");
  const records = readRecords(exported).records;
  const dataEnd = records.find((record) => record.type === "DataEnd");
  assert.ok(
    dataEnd && [...candidates(exported)].some((end) => crc32(exported.subarray(0, end)) === dataEnd.dataSectionCrc),
  );
  const without = await inspectRecording(bytesSource(await exportBytes(bytes)), { fileName: "a.mcap" });
  assert.ok(without.state === "finished" && without.summary.attachments.length === 0);
});

/** Every place that looks like a DataEnd record. */
function* candidates(bytes: Uint8Array): Generator<number> {
  const pattern = Buffer.from([0x0f, 4, 0, 0, 0, 0, 0, 0, 0]);
  const buffer = Buffer.from(bytes);
  for (let at = buffer.indexOf(pattern); at >= 0; at = buffer.indexOf(pattern, at + 1)) yield at;
}

/** A recording of messages of these sizes. */
function fileOfSizes(sizesBytes: readonly number[]): Promise<Uint8Array> {
  const messages = sizesBytes.map((sizeBytes, index) => {
    return { topic: "/b", logTimeNs: BigInt(index), data: new Uint8Array(sizeBytes).fill(index) };
  });
  const file = { topics: ["/b"], schema: "s", compression: "", chunkBytes: 256 * 1024, isIndexed: true } as const;
  return writeMessages({ ...file, messages });
}

test("chunks are at most 4 MiB large, or hold one message", async () => {
  const sizes = [5 * MIB, ...Array<number>(30).fill(300_000)];
  const exported = await exportBytes(await fileOfSizes(sizes), { compression: "" });
  const { records } = readRecords(exported);
  const indexes = records.filter((record) => record.type === "ChunkIndex");
  assert.ok(indexes.length >= 4);
  for (const index of indexes) {
    if (index.uncompressedSize <= 4n * BigInt(MIB)) continue;
    const chunk = records.findIndex(
      (record) => record.type === "Chunk" && record.uncompressedSize === index.uncompressedSize,
    );
    const rest = records.slice(chunk + 1);
    const end = rest.findIndex((record) => record.type === "MessageIndex");
    assert.equal(rest.slice(0, end).filter((record) => record.type === "Message").length, 1);
  }
});

test("schemas and channels stand before their messages, and what is byte-identical is written once", async () => {
  const builder = new McapRecordBuilder();
  builder.writeMagic();
  builder.writeHeader({ profile: "", library: "" });
  const schema = { name: "S", encoding: "jsonschema", data: Buffer.from("{}") };
  builder.writeSchema({ ...schema, id: 7 });
  builder.writeSchema({ ...schema, id: 9 });
  const metadata = new Map([["frame", "map"]]);
  for (const [id, schemaId] of [
    [3, 7],
    [5, 9],
  ] as const) {
    builder.writeChannel({ id, schemaId, topic: "/t", messageEncoding: "json", metadata });
  }
  builder.writeChannel({ id: 6, schemaId: 9, topic: "/t", messageEncoding: "json", metadata: new Map() });
  for (const [index, channelId] of [3, 5, 6].entries()) {
    builder.writeMessage({
      channelId,
      sequence: index,
      logTime: BigInt(index),
      publishTime: 0n,
      data: Buffer.from("{}"),
    });
  }
  builder.writeDataEnd({ dataSectionCrc: 0 });
  builder.writeFooter({ summaryStart: 0n, summaryOffsetStart: 0n, summaryCrc: 0 });
  builder.writeMagic();
  const { schemas, channels, records } = readRecords(await exportBytes(builder.buffer));
  assert.equal(schemas.size, 1);
  assert.deepEqual(
    [...channels.values()].map(({ topic, metadata: kept }) => [topic, kept.size]),
    [
      ["/t", 1],
      ["/t", 0],
    ],
  );
  const messages = records.filter(
    (record): record is McapTypes.TypedMcapRecords["Message"] => record.type === "Message",
  );
  assert.equal(messages[0]!.channelId, messages[1]!.channelId);
  assert.notEqual(messages[1]!.channelId, messages[2]!.channelId);
});

test("a bag exports as ros1 messages with their definitions, whatever the order of its chunks", async () => {
  for (const spec of [{}, { compression: "none" as const }, { isReversed: true, chunkBytes: 3000 }]) {
    const bytes = await makeBag(spec);
    const exported = await exportBytes(bytes, { fileName: "a.bag" });
    const messages = readMessages(exported);
    const expected = (await readBagMessages(bytes)).map(
      ({ topic, logTimeNs, data }) => `${logTimeNs} ${topic} ${Buffer.from(data).toString("hex")}`,
    );
    assert.deepEqual(
      messages.map(({ topic, logTimeNs, data }) => `${logTimeNs} ${topic} ${Buffer.from(data).toString("hex")}`).sort(),
      expected.sort(),
    );
    assert.deepEqual(contentOf(inOrder(messages)), contentOf(messages));
    const imu = messages.find(({ topic }) => topic === "/imu")!;
    assert.deepEqual([imu.messageEncoding, imu.schemaName], ["ros1", "sensor_msgs/Imu"]);
    assert.match(Buffer.from(imu.schema).toString(), /^std_msgs\/Header header\n/);
    const { channels, records } = readRecords(exported);
    assert.deepEqual([...channels.values()][0]?.metadata.get("md5sum"), "6a62c6daae103f4ff57a132d6f95cec2");
    const [header] = records;
    assert.ok(header?.type === "Header" && header.profile === "ros1");
  }
});

test("an export of an export is the same", async () => {
  const topics = fc.uniqueArray(fc.constantFrom("/imu", "/gps", "/log"), { minLength: 1 });
  await fc.assert(
    fc.asyncProperty(topics, fc.bigInt({ min: 0n, max: 10n ** 9n }), async (names, disorderNs) => {
      const bytes = await makeMcap({ disorderNs, chunkBytes: 5000, durationSeconds: 1 });
      const once = await exportBytes(bytes, { topics: names });
      assert.deepEqual(await exportBytes(once), once);
    }),
    { numRuns: propertyRuns(120) },
  );
});

test("an unfinished file and an abort end the stream with an error", async () => {
  const bytes = new Uint8Array(await makeMcap({ compression: "", chunkBytes: 20_000 }));
  const cut = bytes.slice(0, -50);
  await assert.rejects(exportBytes(cut), refusedWith("NoEnd"));

  const gone = new AbortController();
  const stream = exportMcap([exportSource(bytes)], { compression: "", signal: gone.signal });
  await stream.next();
  gone.abort(new Error("client is gone"));
  await assert.rejects(collect(stream), /client is gone/);
});

test("a damaged attachment is left out, and a metadata record reports it", async () => {
  const attachments = [
    { name: "a", data: Buffer.alloc(5000, 3) },
    { name: "b", data: Buffer.alloc(50, 4) },
  ];
  const attached = new Uint8Array(await makeMcap({ attachments }));
  const damaged = attached.with(Buffer.from(attached).indexOf(Buffer.alloc(5000, 3)), 1);
  const exported = await exportBytes(damaged, { includeAttachments: true });
  const quick = await inspectRecording(bytesSource(exported), { fileName: "a.mcap" });
  assert.ok(quick.state === "finished");
  const metadata = {
    skippedChunks: "0",
    messagesLost: "0",
    skippedAttachments: '[{"source":"a.mcap","name":"a"}]',
  };
  assert.deepEqual(quick.summary.metadata, [{ name: "downlink.export", metadata }]);
  assert.deepEqual(
    quick.summary.attachments.map(({ name }) => name),
    ["b"],
  );
  assert.deepEqual(readMessages(exported), readMessages(attached));
});

test("a reader that stops reading stops the work", async () => {
  const bytes = await fileOfSizes(Array<number>(900).fill(50_000));
  const source = countReads(bytesSource(bytes));
  const { openIndex } = await indexedSource(bytes);
  for await (const piece of exportMcap([exportSource(source, { openIndex })], { compression: "" })) {
    if (piece.byteLength > MIB / 2) break;
  }
  assert.ok(source.bytesRead < bytes.byteLength / 3, `${source.bytesRead} of ${bytes.byteLength}`);
});
