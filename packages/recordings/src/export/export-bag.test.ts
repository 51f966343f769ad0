import assert from "node:assert/strict";
import { test } from "node:test";
import { crc32 } from "node:zlib";
import fc from "fast-check";
import { bytesSource, SourceChangedError } from "../sources/source.ts";
import { exportBagBytes, exportBytes, exportSource } from "../testing/export-bytes.ts";
import { makeBag } from "../testing/make-bag.ts";
import { makeMcap } from "../testing/make-mcap.ts";
import { propertyRuns } from "../testing/property-runs.ts";
import { readBagChunks, readBagsInOrder, topicOf } from "../testing/read-bag-file.ts";
import { readMessages, readRecords } from "../testing/read-messages.ts";
import { refusedWith } from "../testing/refused-with.ts";
import { requireSoundBag } from "../testing/require-sound-bag.ts";
import { slowTest } from "../testing/slow-test.ts";
import { type BagMessage, makeConnection, writeBagMessages } from "../testing/write-bag-messages.ts";

const START_NS = 1_767_323_045_000_000_000n;
const STEP_NS = 10_000_000n;
const MIB = 1024 * 1024;

const bags = await Promise.all([
  makeBag({ isReversed: true, chunkBytes: 3000, durationSeconds: 1 }),
  makeBag({ compression: "none", chunkBytes: 9000, durationSeconds: 1 }),
  makeBag({ startNs: START_NS + 30n * STEP_NS, isReversed: true, chunkBytes: 2000, durationSeconds: 1 }),
]);
const messages = await Promise.all(bags.map((bag) => readBagsInOrder(bag)));

test("any selection of bags, topics and times, in order of log time, is what a slow obvious extraction gives", async () => {
  const selections = fc.record({
    indexes: fc.subarray([0, 1, 2], { minLength: 1 }),
    topics: fc.constantFrom<string[] | undefined>(undefined, ["/imu"], ["/status"], ["/imu", "/status", "/none"]),
    first: fc.integer({ min: -10, max: 140 }),
    last: fc.integer({ min: -10, max: 140 }),
    compression: fc.constantFrom("", "lz4"),
    memoryBudgetBytes: fc.constantFrom(undefined, 20_000),
    mostHeldBytes: fc.constantFrom(0, undefined),
  });
  await fc.assert(
    fc.asyncProperty(selections, async ({ indexes, topics, first, last, ...options }) => {
      const window = { startNs: START_NS + BigInt(first) * STEP_NS, endNs: START_NS + BigInt(last) * STEP_NS };
      const selected = indexes
        .flatMap((index) => messages[index]!)
        .filter((message) => topics?.includes(topicOf(message)) ?? true)
        .filter(({ logTimeNs }) => logTimeNs >= window.startNs && logTimeNs <= window.endNs)
        .sort((a, b) => Number(a.logTimeNs - b.logTimeNs));
      const sources = indexes.map((index) => bags[index]!);
      await requireSoundBag(await exportBagBytes(sources, { ...options, ...window, topics }), selected);
    }),
    { numRuns: propertyRuns(120), endOnFailure: true },
  );
});

test("connections keep every field of their headers, and the same one of several bags is one", async () => {
  const exported = await readBagsInOrder(await exportBagBytes([bags[0]!, bags[2]!]));
  const headers = (of: readonly BagMessage[]) =>
    new Set(of.map((message) => `${topicOf(message)} ${Buffer.from(message.connection.header).toString("hex")}`));
  assert.deepEqual(headers(exported), headers(messages[0]!));
  assert.equal(new Set(exported.map(({ connection }) => connection)).size, 2);
});

test("connections that differ in any field stay apart, and as channels of an MCAP they keep every field", async () => {
  const fields = ["latching=1", "callerid=/one", "callerid=/two", "origin=map", "__proto__=own"];
  const written = fields.map((field, index) => {
    return { connection: makeConnection("/a", field), logTimeNs: START_NS + BigInt(index), data: Buffer.of(index) };
  });
  const bag = await writeBagMessages(written);
  const again = await readBagsInOrder(await exportBagBytes([bag, bag]));
  const fieldOf = ({ connection }: BagMessage) =>
    fields.find((field) => Buffer.from(connection.header).includes(field));
  assert.deepEqual(
    again.map((message) => [fieldOf(message), message.data[0]]),
    fields.flatMap((field, index) => [
      [field, index],
      [field, index],
    ]),
  );
  const { channels } = readRecords(await exportBytes(bag, { fileName: "a.bag" }));
  const found = Array.from(channels.values(), ({ metadata }) => [...metadata].map(([key, value]) => `${key}=${value}`));
  assert.deepEqual(found.map((each) => each.find((field) => fields.includes(field))).sort(), [...fields].sort());
  assert.ok(found.every((each) => each.includes("md5sum=d41d8cd98f00b204e9800998ecf8427e")));
});

test("lastPerChannel begins with the latest earlier message of each connection, from a bag that ended before", async () => {
  const later = await makeBag({ startNs: START_NS + 500n * STEP_NS, durationSeconds: 1 });
  const window = { startNs: START_NS + 500n * STEP_NS, endNs: START_NS + 510n * STEP_NS };
  const sources = [
    exportSource(bags[0]!, { fileName: "a.bag", startNs: START_NS, endNs: START_NS + 100n * STEP_NS }),
    exportSource(later, { fileName: "b.bag", startNs: window.startNs, endNs: START_NS + 600n * STEP_NS }),
  ];
  const found = await readBagsInOrder(await exportBagBytes(sources, { ...window, lastPerChannel: {} }));
  const inside = (await readBagsInOrder(later)).filter(({ logTimeNs }) => logTimeNs <= window.endNs);
  const lastOf = (topic: string) => messages[0]!.findLast((message) => topicOf(message) === topic)!;
  const latest = [lastOf("/status"), lastOf("/imu")].sort((a, b) => Number(a.logTimeNs - b.logTimeNs));
  await requireSoundBag(await exportBagBytes(sources, { ...window, lastPerChannel: {} }), [...latest, ...inside]);
  assert.equal(found.length, inside.length + 2);
});

slowTest(
  "messages that are too large to be held come whole, between others and alone, as a bag and as an MCAP file",
  async () => {
    const [one, other] = [makeConnection("/one"), makeConnection("/other")];
    const message = (index: number, sizeBytes: number): BagMessage => ({
      connection: index % 2 === 0 ? one : other,
      logTimeNs: START_NS + BigInt(index) * STEP_NS,
      data: Buffer.alloc(sizeBytes, `${index}`),
    });
    const large = [message(0, 10), message(2, 17 * MIB), message(3, 18 * MIB), message(5, 10)];
    const small = [1, 2, 3, 4, 6].map((index) => message(index, 100 + index));
    for (const [compression, topics, memoryBudgetBytes] of [
      ["lz4", undefined, undefined],
      ["", ["/one"], 12 * MIB],
      ["lz4", ["/other"], undefined],
    ] as const) {
      const sources = [await writeBagMessages(large, { compression }), await writeBagMessages(small)];
      const expected = [...large, ...small]
        .filter((each) => topics?.some((topic) => topic === topicOf(each)) ?? true)
        .sort((a, b) => Number(a.logTimeNs - b.logTimeNs));
      const options = { compression, memoryBudgetBytes, ...(topics && { topics: [...topics] }) };
      await requireSoundBag(await exportBagBytes(sources, options), expected);
      const bags = sources.map((bytes) => exportSource(bytes, { fileName: "a.bag" }));
      const mcap = readMessages(await exportBytes(bags, options));
      const lineOf = ({ topic, logTimeNs, data }: { topic: string; logTimeNs: bigint; data: Uint8Array }) =>
        `${topic} ${logTimeNs} ${data.byteLength} ${crc32(data)}`;
      const lines = expected.map((each) => lineOf({ ...each, topic: topicOf(each) }));
      assert.deepEqual(
        mcap.map((each) => lineOf({ ...each, topic: each.topic })),
        lines,
      );
    }
  },
);

test("a damaged chunk is left out, and a last message reports it", async () => {
  const [intact, damaged] = [bags[1]!, new Uint8Array(bags[1]!)];
  const chunks = await readBagChunks(intact);
  // The operation of a message record inside the second chunk, which is not compressed.
  const place = Buffer.from(intact).indexOf(chunks[1]![0]!.data) - 20;
  damaged.fill(0xff, place, place + 10);
  for (const mostHeldBytes of [0, undefined]) {
    const found = await readBagsInOrder(
      await exportBagBytes([exportSource(damaged, { fileName: "a.bag", isSalvage: true })], { mostHeldBytes }),
    );
    const last = found.pop()!;
    assert.equal(topicOf(last), "/downlink/export");
    const text = Buffer.from(last.data).toString("utf8", 4);
    assert.match(JSON.parse(text)["skipped.1"], /"source":"a\.bag".*"code":"BadChunk"/);
    const left = chunks.filter((_, index) => index !== 1).flat();
    assert.deepEqual(
      found.map(({ logTimeNs, data }) => [logTimeNs, Buffer.from(data).toString("base64")]),
      left.map(({ logTimeNs, data }) => [logTimeNs, Buffer.from(data).toString("base64")]),
    );
  }
});

test("a recording that is no bag is refused, also as one of several", async () => {
  const mcap = exportSource(await makeMcap({}), { fileName: "a.mcap" });
  const isRefusal = refusedWith("NotABag");
  await assert.rejects(exportBagBytes([mcap]), isRefusal);
  await assert.rejects(exportBagBytes([bags[0]!, mcap]), isRefusal);
});

test("a bag that is another one when it is read the second time ends the export with an error", async () => {
  let opened = 0;
  const source = exportSource(bags[0]!, { fileName: "a.bag" });
  const changing = {
    ...source,
    async open() {
      opened += 1;
      const reader = bytesSource(opened === 1 ? bags[0]! : bags[2]!);
      return { ...reader, sizeBytes: reader.sizeBytes, async [Symbol.asyncDispose]() {} };
    },
  };
  await assert.rejects(exportBagBytes([changing], { mostHeldBytes: 0 }), SourceChangedError);
});
