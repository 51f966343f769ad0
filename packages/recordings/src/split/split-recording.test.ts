import assert from "node:assert/strict";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { McapWriter } from "@mcap/core";
import fc from "fast-check";
import type { ExportSource } from "../export/plan/export-options.ts";
import { inspectRecording } from "../inspect/inspect.ts";
import { bytesSource } from "../sources/source.ts";
import { collect } from "../testing/collect.ts";
import { exportBytes, exportSource, indexedSource } from "../testing/export-bytes.ts";
import { makeBag } from "../testing/make-bag.ts";
import { makeMcap } from "../testing/make-mcap.ts";
import { propertyRuns } from "../testing/property-runs.ts";
import {
  contentOf,
  type ReadMessage,
  readIndexedMessages,
  readMessages,
  readRecords,
} from "../testing/read-messages.ts";
import { firstCases, slowTest } from "../testing/slow-test.ts";
import { type WrittenMessage, writeMessages } from "../testing/write-messages.ts";
import { digestTopics } from "./digest-topics.ts";
import { splitRecording, type TopicFile } from "./split-recording.ts";

const folder = await mkdtemp(join(tmpdir(), "split-"));
after(() => rm(folder, { recursive: true }));
const spillPath = join(folder, "spill");

interface Split extends Omit<TopicFile, "open"> {
  readonly bytes: Uint8Array;
}

async function split(source: Uint8Array | ExportSource): Promise<Split[]> {
  const files: Split[] = [];
  const from = source instanceof Uint8Array ? exportSource(source) : source;
  await using whole = await splitRecording(from, { spillPath });
  for (const { open, ...about } of whole.topics) files.push({ ...about, bytes: await collect(open()) });
  return files;
}

/** The messages of a topic, in order of time; those of one time in their order. */
function ofTopic(messages: readonly ReadMessage[], topic: string): object[] {
  const own = messages.filter((message) => message.topic === topic);
  return contentOf(own.toSorted((a, b) => Number(a.logTimeNs - b.logTimeNs)));
}

/** An export by the files of topics has these of the whole, though messages of one time in another order of topics. */
function byTopic(messages: readonly ReadMessage[]): Record<string, object[]> {
  return Object.fromEntries(
    [...new Set(messages.map(({ topic }) => topic))].sort().map((t) => [t, ofTopic(messages, t)]),
  );
}

test("each topic of any kind of MCAP gets an indexed file with its messages, which an independent reader reads", async () => {
  for (const variant of firstCases(3, [
    {},
    { isChunked: false },
    { disorderNs: 900_000_000n, chunkBytes: 10_000 },
    { isIndexed: false },
    { compression: "lz4" as const },
    { compression: "" as const },
  ])) {
    const bytes = await makeMcap(variant);
    const original = readMessages(bytes);
    const files = await split(bytes);
    assert.deepEqual(files.map(({ topic }) => topic).sort(), [...new Set(original.map(({ topic }) => topic))].sort());
    for (const file of files) {
      const expected = ofTopic(original, file.topic);
      assert.deepEqual(contentOf(readMessages(file.bytes)), expected);
      assert.deepEqual(contentOf(await readIndexedMessages(file.bytes)), expected);
      assert.equal(file.messageCount, expected.length);
      const inspection = await inspectRecording(bytesSource(file.bytes), { fileName: "a.mcap" });
      assert.equal(inspection.state, "finished");
    }
  }
});

test("several channels of one topic share its file, each with its encoding, schema and metadata", async () => {
  const pieces: Uint8Array[] = [];
  let position = 0n;
  const write = async (bytes: Uint8Array): Promise<void> => {
    pieces.push(new Uint8Array(bytes));
    position += BigInt(bytes.byteLength);
  };
  const writer = new McapWriter({ writable: { position: () => position, write } });
  await writer.start({ profile: "", library: "" });
  const schemaId = await writer.registerSchema({ name: "one", encoding: "text", data: Uint8Array.of(1) });
  const abouts = [
    { topic: "/a", schemaId, messageEncoding: "text", metadata: new Map([["side", "left"]]) },
    { topic: "/b", schemaId, messageEncoding: "text", metadata: new Map() },
    { topic: "/a", schemaId: 0, messageEncoding: "json", metadata: new Map([["side", "right"]]) },
  ];
  for (const [at, about] of abouts.entries()) {
    const channelId = await writer.registerChannel(about);
    await writer.addMessage({ channelId, sequence: at, logTime: 5n, publishTime: 7n, data: Uint8Array.of(at) });
  }
  await writer.end();
  const bytes = Buffer.concat(pieces);
  const files = await split(bytes);
  assert.deepEqual(
    files.map(({ topic, messageCount }) => [topic, messageCount]),
    [
      ["/a", 2],
      ["/b", 1],
    ],
  );
  for (const file of files) {
    const channels = [...readRecords(file.bytes).channels.values()].map(({ id, ...about }) => about);
    const expected = abouts.filter(({ topic }) => topic === file.topic);
    assert.deepEqual(
      channels,
      expected.map((about) => ({ type: "Channel", ...about })),
    );
    assert.deepEqual(contentOf(readMessages(file.bytes)), ofTopic(readMessages(bytes), file.topic));
  }
});

test("a bag is split into the files that its export as MCAP would be split into", async () => {
  const bytes = await makeBag();
  const whole = readMessages(await exportBytes(bytes, { fileName: "a.bag" }));
  const files = await split(exportSource(bytes, { fileName: "a.bag" }));
  assert.ok(files.length > 1);
  for (const file of files) {
    assert.deepEqual(contentOf(readMessages(file.bytes)), ofTopic(whole, file.topic));
    assert.deepEqual(
      [...readRecords(file.bytes).records].find(({ type }) => type === "Header"),
      {
        type: "Header",
        profile: "ros1",
        library: "downlink",
      },
    );
  }
});

test("the digest of a topic's file is that of the topic in the recording, and changes with whatever a message is", async () => {
  const message = { topic: "/a", logTimeNs: 5n, data: Uint8Array.of(1) };
  const plain = { topics: ["/a", "/b"], schema: "one", compression: "lz4", chunkBytes: 1000, isIndexed: true } as const;
  const messages = [message, { ...message, topic: "/b" }, { ...message, data: Uint8Array.of(2) }];
  const digestsOf = async (written: Parameters<typeof writeMessages>[0]): Promise<Record<string, string>> => {
    const bytes = await writeMessages(written);
    const whole = await digestTopics(exportSource(bytes));
    const files = await split(bytes);
    assert.deepEqual(
      files.map(({ bytes: _, ...about }) => about),
      whole,
    );
    for (const file of files) {
      const { bytes: own, ...about } = file;
      assert.deepEqual(await digestTopics(await indexedSource(own)), [about]);
    }
    return Object.fromEntries(whole.map(({ topic, sha256 }) => [topic, sha256]));
  };
  const first = await digestsOf({ ...plain, messages });
  const changed = [
    { ...plain, messages: messages.toReversed() },
    { ...plain, messages: messages.slice(0, 2) },
    { ...plain, messages: messages.map((one) => ({ ...one, data: Uint8Array.of(3, ...one.data) })) },
    { ...plain, messages: messages.map((one) => ({ ...one, logTimeNs: 6n })) },
    { ...plain, messages, schema: "two" },
  ];
  for (const written of changed) assert.notEqual((await digestsOf(written))["/a"], first["/a"]);
  assert.equal((await digestsOf({ ...plain, messages, chunkBytes: 1, compression: "zstd" }))["/a"], first["/a"]);
});

const someMessages = fc.array(
  fc.record({
    topic: fc.constantFrom("/a", "/b", "/c"),
    logTimeNs: fc.bigInt({ min: 0n, max: 4n }),
    data: fc.uint8Array({ maxLength: 20 }),
  }),
  { minLength: 1, maxLength: 40 },
);

test("exports by the files of topics hold what exports by the recording hold, messages of one time in their order", async () => {
  const plain = { topics: ["/a", "/b", "/c"], schema: "s", chunkBytes: 60, isIndexed: true } as const;
  const choices = fc.record({
    messages: someMessages,
    topics: fc.subarray(["/a", "/b", "/c"], { minLength: 1 }),
    startNs: fc.bigInt({ min: 0n, max: 4n }),
    endNs: fc.bigInt({ min: 0n, max: 4n }),
  });
  const property = fc.asyncProperty(choices, async ({ messages, topics, startNs, endNs }) => {
    const bytes = await writeMessages({ ...plain, compression: "zstd", messages: messages as WrittenMessage[] });
    const files = (await split(bytes)).filter(({ topic }) => topics.includes(topic));
    const sources = await Promise.all(files.map((file) => indexedSource(file.bytes)));
    const options = { topics, startNs, endNs, compression: "lz4" } as const;
    const fromFiles = readMessages(await exportBytes(sources, options));
    const fromWhole = readMessages(await exportBytes(bytes, options));
    assert.deepEqual(byTopic(fromFiles), byTopic(fromWhole));
    assert.deepEqual(
      fromFiles.map(({ logTimeNs }) => logTimeNs),
      fromWhole.map(({ logTimeNs }) => logTimeNs),
    );
  });
  await fc.assert(property, { numRuns: propertyRuns(40) });
});

slowTest("thousands of topics open one file more, which has no name", async () => {
  const topics = Array.from({ length: 3000 }, (_, index) => `/${index}`);
  const data = new Uint8Array(30);
  const messages = [0n, 1n, 2n].flatMap((logTimeNs) => topics.map((topic) => ({ topic, logTimeNs, data })));
  const bytes = await writeMessages({
    ...{ topics, messages, schema: "s", compression: "lz4", chunkBytes: 10_000, isIndexed: true },
  });
  const before = (await readdir("/proc/self/fd")).length;
  let count = 0;
  await using whole = await splitRecording(exportSource(bytes), { spillPath });
  for (const file of whole.topics) {
    if (count % 500 === 0) {
      assert.equal(readMessages(await collect(file.open())).length, 3);
      assert.ok((await readdir("/proc/self/fd")).length <= before + 10);
      assert.deepEqual(await readdir(folder), []);
    }
    count += 1;
  }
  assert.equal(count, topics.length);
});

test("each file repeats the recording's metadata; a recording with too many of them is refused", async () => {
  const metadata = [{ name: "downlink", metadata: { deviceName: "robot" } }];
  for (const { bytes } of await split(await makeMcap({ metadata }))) {
    const records = readRecords(bytes).records.filter(({ type }) => type === "Metadata");
    assert.deepEqual(records, [{ type: "Metadata", name: "downlink", metadata: new Map([["deviceName", "robot"]]) }]);
  }
  const many = await makeMcap({ metadata: [{ name: "much", metadata: { text: "x".repeat(70_000) } }] });
  await assert.rejects(split(many), { code: "TooMuchMetadata" });
  assert.deepEqual(await readdir(folder), []);
});
