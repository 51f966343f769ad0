import assert from "node:assert/strict";
import { test } from "node:test";
import type { McapWriterOptions } from "@mcap/core";
import fc from "fast-check";
import { bytesSource } from "../sources/source.ts";
import type { MetadataRecord, RecordingSummary } from "../survey/summary.ts";
import { bagChunksOf } from "../testing/bag-chunks.ts";
import { makeBag } from "../testing/make-bag.ts";
import { type McapSpec, makeMcap } from "../testing/make-mcap.ts";
import { indexSome, withoutInfo } from "../testing/partial-index.ts";
import { propertyRuns } from "../testing/property-runs.ts";
import { readMessages, readRecords } from "../testing/read-messages.ts";
import { inspectRecording, isFinished } from "./inspect.ts";

async function summarize(bytes: Uint8Array, fileName: string, verifyChunks = false): Promise<RecordingSummary> {
  const inspection = await inspectRecording(bytesSource(bytes), { fileName, verifyChunks });
  if (!("summary" in inspection)) assert.fail(`${inspection.state}: ${inspection.reason.text}`);
  return inspection.summary;
}

const metadata: MetadataRecord[] = [
  { name: "foxglove", metadata: { deviceName: "old" } },
  { name: "calibration", metadata: { camera: "front" } },
  {
    name: "downlink",
    metadata: { deviceId: "", deviceName: "r2", key: "drive-7", sessionKey: "morning", extra: "kept" },
  },
];
const attachments = [
  { name: "map.bin", mediaType: "application/x-map", data: new Uint8Array(70_000).fill(7), logTimeNs: 5n },
];

test("index, skim and scan agree on everything but the times of single topics", async () => {
  const spec: McapSpec = { metadata, attachments, disorderNs: 300_000_000n, chunkBytes: 30_000 };
  const bytes = await makeMcap(spec);
  const unindexed = await makeMcap({ ...spec, isIndexed: false });
  const unchunked = await makeMcap({ ...spec, isIndexed: false, isChunked: false });
  const indexed = await summarize(bytes, "a.mcap");
  assert.equal(indexed.method, "index");
  const withoutTimes = ({ topics, sizeBytes, method, attachments: listed, ...rest }: RecordingSummary) => ({
    ...rest,
    attachments: listed.map(({ dataOffset, dataSha256, ...attachment }) => attachment),
    topics: topics.map(({ startNs, endNs, channelsKey, maxGapNs, activity, ...topic }) => topic),
  });
  const others = [
    [await summarize(bytes, "a.mcap", true), "scan"],
    [await summarize(unindexed, "a.mcap"), "scan"],
    [await summarize(unchunked, "a.mcap"), "skim"],
  ] as const;
  for (const [summary, method] of others) {
    assert.equal(summary.method, method);
    assert.deepEqual(withoutTimes(summary), withoutTimes(indexed));
  }
});

test("counts and times are those of the messages, for every feature that a writer may leave out", async () => {
  const names = [
    "useStatistics",
    "useSummaryOffsets",
    "repeatSchemas",
    "repeatChannels",
    "useMessageIndex",
    "useChunkIndex",
  ];
  const features = fc.record(Object.fromEntries(names.map((name) => [name, fc.boolean()])));
  const spec = fc.record({
    features: features as fc.Arbitrary<Partial<McapWriterOptions>>,
    isChunked: fc.boolean(),
    compression: fc.constantFrom("" as const, "lz4" as const, "zstd" as const),
    chunkBytes: fc.integer({ min: 1, max: 20_000 }),
    disorderNs: fc.bigInt({ min: 0n, max: 2_000_000_000n }),
    durationSeconds: fc.constantFrom(0, 0.1, 1),
  });
  await fc.assert(
    fc.asyncProperty(spec, async (chosen) => {
      const bytes = await makeMcap({ ...chosen, attachments });
      const messages = readMessages(bytes);
      const times = messages.map(({ logTimeNs }) => logTimeNs).sort((a, b) => Number(a - b));
      for (const verify of [false, true]) {
        const summary = await summarize(bytes, "a.mcap", verify);
        assert.equal(summary.messageCount, messages.length);
        assert.deepEqual([summary.startNs, summary.endNs], [times[0], times.at(-1)]);
        for (const { topic, messageCount } of summary.topics) {
          assert.equal(messageCount, messages.filter((message) => message.topic === topic).length, topic);
        }
        assert.equal(summary.attachments.length, 1);
      }
    }),
    { numRuns: propertyRuns(60) },
  );
});

test("the last metadata record named downlink or foxglove is the identity, without its empty values", async () => {
  const { identity, metadata: records } = await summarize(await makeMcap({ metadata }), "a.mcap");
  assert.deepEqual(identity, { deviceName: "r2", key: "drive-7", sessionKey: "morning" });
  assert.deepEqual(records, metadata);
  const turned = await summarize(await makeMcap({ metadata: metadata.toReversed() }), "a.mcap");
  assert.deepEqual(turned.identity, { deviceName: "old" });
});

test("an attachment's data stand where its summary says", async () => {
  const bytes = await makeMcap({ attachments });
  const [attachment] = (await summarize(bytes, "a.mcap")).attachments;
  assert.ok(attachment);
  const { dataOffset, sizeBytes, ...rest } = attachment;
  assert.deepEqual(bytes.subarray(dataOffset, dataOffset + sizeBytes), attachments[0]!.data);
  assert.deepEqual([rest.name, rest.mediaType, rest.logTimeNs], ["map.bin", "application/x-map", 5n]);
});

test("U+0000 and invalid UTF-8 in names become U+FFFD, and __proto__ is a key like any other", async () => {
  const odd = [{ name: "a\0b", metadata: Object.fromEntries([["__proto__", "x\0"]]) }];
  const bytes = await makeMcap({ topics: [{ topic: "/t\0", kind: "blob", rateHz: 1 }], metadata: odd });
  const summary = await summarize(bytes, "a.mcap");
  assert.deepEqual(
    summary.topics.map(({ topic }) => topic),
    ["/t\ufffd"],
  );
  assert.deepEqual(summary.metadata, [{ name: "a\ufffdb", metadata: Object.fromEntries([["__proto__", "x\ufffd"]]) }]);
  const at = Buffer.from(bytes).indexOf("/t\0");
  const invalid = new Uint8Array(bytes).fill(0xff, at, at + 1);
  const found = await summarize(invalid, "a.mcap", true).catch((error: unknown) => String(error));
  assert.match(String(found), /checksum/);
});

test("a topic's version depends on its schema and encoding, not on the file", async () => {
  const imu = { topic: "/imu", kind: "imu", rateHz: 10 } as const;
  const gps = { topic: "/imu", kind: "gps", rateHz: 10 } as const;
  const versions = async (spec: McapSpec) =>
    (await summarize(await makeMcap(spec), "a.mcap")).topics.map(({ version }) => version);
  const [first] = await versions({ topics: [imu] });
  assert.match(first!, /^[0-9a-f]{16}$/);
  assert.deepEqual(await versions({ topics: [imu], startNs: 5n, compression: "" }), [first]);
  const both = await versions({ topics: [imu, gps] });
  assert.equal(both[0], first);
  assert.notEqual(both[1], first);
});

test("a recording without messages is empty, not broken", async () => {
  for (const [bytes, fileName] of [
    [await makeMcap({ durationSeconds: 0 }), "a.mcap"],
    [await makeMcap({ durationSeconds: 0, isIndexed: false }), "a.mcap"],
    [await makeBag({ durationSeconds: 0 }), "a.bag"],
  ] as const) {
    const inspection = await inspectRecording(bytesSource(bytes), { fileName });
    assert.ok(inspection.state === "empty", inspection.state);
    assert.equal(inspection.summary.startNs, undefined);
    assert.equal(await isFinished(bytesSource(bytes), fileName), true);
  }
});

test("a bag is surveyed from its index: connections, counts, span", async () => {
  for (const isReversed of [false, true]) {
    const summary = await summarize(await makeBag({ startNs: 7_000_000_001n, isReversed, chunkBytes: 5000 }), "a.bag");
    assert.equal(summary.method, "index");
    assert.deepEqual(
      summary.topics.map(({ topic, messageCount, messageEncoding, schemaName, schemaEncoding }) => [
        topic,
        messageCount,
        messageEncoding,
        schemaName,
        schemaEncoding,
      ]),
      [
        ["/imu", 200, "ros1", "sensor_msgs/Imu", "ros1msg"],
        ["/status", 4, "ros1", "std_msgs/String", "ros1msg"],
      ],
    );
    assert.deepEqual([summary.startNs, summary.endNs], [7_000_000_001n, 8_990_000_001n]);
  }
});

test("a bag without its index is an active bag, and what it holds can be said", async () => {
  const bytes = await makeBag({ isFinished: false, chunkBytes: 5000 });
  for (const fileName of ["a.bag", "a.bag.active"]) {
    assert.equal(await isFinished(bytesSource(bytes), fileName), false);
    const inspection = await inspectRecording(bytesSource(bytes), { fileName, salvage: true });
    assert.ok(inspection.state === "incomplete" && inspection.reason.code === "ActiveBag");
    assert.deepEqual(inspection.salvage, {
      startNs: 1_767_323_045_000_000_000n,
      endNs: 1_767_323_046_990_000_000n,
      messageCount: 204,
      topics: ["/imu", "/status"],
      readableBytes: bytes.byteLength,
      lostBytes: 0,
      identity: {},
    });
  }
});

test("what a cut file still holds is what its readable bytes hold", async () => {
  const bytes = await makeMcap({ chunkBytes: 10_000 });
  const whole = await summarize(bytes, "a.mcap");
  let last = -1;
  for (let part = 0.05; part < 1; part += 0.05) {
    const cut = bytes.slice(0, Math.floor(bytes.byteLength * part));
    assert.equal(await isFinished(bytesSource(cut), "a.mcap"), false);
    const inspection = await inspectRecording(bytesSource(cut), { fileName: "a.mcap", salvage: true });
    assert.ok(inspection.state === "incomplete" && inspection.reason.code === "NoEnd" && inspection.salvage);
    const { salvage } = inspection;
    assert.ok(salvage.messageCount >= last && salvage.messageCount <= whole.messageCount);
    assert.equal(salvage.readableBytes + salvage.lostBytes, cut.byteLength);
    last = salvage.messageCount;
  }
  assert.ok(last > whole.messageCount / 2);
  const unasked = await inspectRecording(bytesSource(bytes.slice(0, -100)), { fileName: "a.mcap" });
  assert.ok(unasked.state === "incomplete" && unasked.salvage === undefined);
});

test("the content decides when the name says nothing, and only a contradiction is refused", async () => {
  const mcap = await makeMcap({ durationSeconds: 0.1 });
  const states = async (fileName: string) => (await inspectRecording(bytesSource(mcap), { fileName })).state;
  assert.equal(await states("upload"), "finished");
  assert.equal(await states("A.MCAP"), "finished");
  assert.equal(await states("a.mcap.active"), "finished");
  assert.equal(await states("a.bag"), "unsupported");
});

test("an abort and an I/O error throw; they are not the file's fault", async () => {
  const bytes = await makeMcap();
  const signal = AbortSignal.abort(new Error("enough"));
  await assert.rejects(inspectRecording(bytesSource(bytes), { fileName: "a.mcap", signal }), /enough/);
  const broken = {
    sizeBytes: bytes.byteLength,
    read: async () => {
      throw new Error("EIO: the card is dying");
    },
  };
  await assert.rejects(inspectRecording(broken, { fileName: "a.mcap" }), /EIO/);
});

test("what can be read is reported of a damaged file, too, before and behind the place that makes no sense", async () => {
  const bytes = await makeMcap({ chunkBytes: 10_000 });
  const whole = await summarize(bytes, "a.mcap");
  const at = Math.floor(bytes.byteLength / 2);
  const damaged = new Uint8Array(bytes).fill(0xff, at, at + 30_000);
  const inspection = await inspectRecording(bytesSource(damaged), {
    fileName: "a.mcap",
    verifyChunks: true,
    salvage: true,
  });
  assert.ok(inspection.state === "damaged" && inspection.salvage);
  const { messageCount, readableBytes } = inspection.salvage;
  assert.ok(messageCount > whole.messageCount / 2 && messageCount < whole.messageCount);
  assert.ok(readableBytes > at && readableBytes <= bytes.byteLength - 30_000);
});

test("a summary that names only some of the chunks is not believed, wherever the others stand", async () => {
  const whole = await makeMcap({ chunkBytes: 20_000 });
  const expected = await summarize(whole, "a.mcap");
  const chunks = readRecords(whole).records.filter((record) => record.type === "Chunk").length;
  assert.ok(chunks > 4);
  for (const from of [0, 1, Math.floor(chunks / 2), chunks - 1]) {
    const bytes = indexSome(whole, (index) => index !== from);
    const found = await summarize(bytes, "a.mcap");
    assert.deepEqual(
      [found.messageCount, found.startNs, found.endNs],
      [expected.messageCount, expected.startNs, expected.endNs],
    );
    assert.equal(found.method, "skim", `without chunk ${from}`);
  }
  assert.equal(
    (
      await summarize(
        indexSome(whole, () => true),
        "a.mcap",
      )
    ).method,
    "index",
  );
});

test("a bag whose index does not name its first or its last chunk is skimmed", async () => {
  const whole = await makeBag({ chunkBytes: 8000 });
  const expected = await summarize(whole, "a.bag");
  const count = bagChunksOf(whole).length;
  for (const unnamed of [0, count - 1]) {
    const found = await summarize(withoutInfo(whole, unnamed), "a.bag");
    assert.deepEqual(
      [found.method, found.messageCount, found.startNs, found.endNs],
      ["skim", expected.messageCount, expected.startNs, expected.endNs],
    );
  }
});
