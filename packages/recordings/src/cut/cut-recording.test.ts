import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { inspectRecording } from "../inspect/inspect.ts";
import { bytesSource, countReads, type RandomAccessSource } from "../sources/source.ts";
import { collect } from "../testing/collect.ts";
import { exportBytes } from "../testing/export-bytes.ts";
import { makeBag } from "../testing/make-bag.ts";
import { makeMcap } from "../testing/make-mcap.ts";
import { propertyRuns } from "../testing/property-runs.ts";
import { contentOf, type ReadMessage, readIndexedMessages, readMessages } from "../testing/read-messages.ts";
import { type CutOptions, cutRecording } from "./cut-recording.ts";

const START_NS = 1_767_323_045_000_000_000n;
const MS = 1_000_000n;
const ALL = { startNs: 0n, endNs: 2n ** 63n - 1n };

const files = await Promise.all([
  makeMcap({ chunkBytes: 20_000, metadata: [{ name: "downlink", metadata: { deviceName: "rover" } }] }),
  makeMcap({ chunkBytes: 8000, compression: "lz4", disorderNs: 300_000_000n }),
  makeMcap({ chunkBytes: 20_000, features: { repeatChannels: false, repeatSchemas: false } }),
  makeMcap({ chunkBytes: 20_000, features: { useMessageIndex: false } }),
  makeMcap({ chunkBytes: 20_000, compression: "", isIndexed: false }),
  makeMcap({ isChunked: false }),
  makeBag({ isReversed: true, chunkBytes: 3000 }),
  makeBag({ chunkBytes: 3000, compression: "bz2" }),
]);
const nameOf = (index: number) => (index >= files.length - 2 ? "a.bag" : "a.mcap");

function cut(source: RandomAccessSource | Uint8Array, options: Partial<CutOptions> = {}): Promise<Uint8Array> {
  const reader = source instanceof Uint8Array ? bytesSource(source) : source;
  return collect(cutRecording(reader, { fileName: "a.mcap", metadata: [], ...ALL, ...options }));
}

/** The messages of one time may be in any order among themselves. */
function sorted(messages: readonly ReadMessage[]): string[] {
  return contentOf(messages)
    .map((each) => JSON.stringify(each, (_, value) => (typeof value === "bigint" ? `${value}` : value)))
    .sort();
}

test("a cut of any topics and times of any file has the messages of the export of the same", async () => {
  const selections = fc.record({
    index: fc.nat(files.length - 1),
    topics: fc.constantFrom<string[] | undefined>(undefined, ["/imu"], ["/gps", "/camera"], ["/status"], ["/none"]),
    first: fc.integer({ min: -100, max: 2200 }),
    span: fc.integer({ min: 0, max: 900 }),
  });
  await fc.assert(
    fc.asyncProperty(selections, async ({ index, topics, first, span }) => {
      const startNs = START_NS + BigInt(first) * MS;
      const selection = {
        fileName: nameOf(index),
        startNs,
        endNs: startNs + BigInt(span) * MS,
        ...(topics && { topics }),
      };
      const written = await cut(files[index]!, selection);
      const expected = readMessages(await exportBytes(files[index]!, selection));
      assert.deepEqual(sorted(await readIndexedMessages(written)), sorted(expected));
      const { state } = await inspectRecording(bytesSource(written), { fileName: "cut.mcap" });
      assert.equal(state, expected.length === 0 ? "empty" : "finished");
    }),
    { numRuns: propertyRuns(150), endOnFailure: true },
  );
});

test("of a file with a summary little more is read than the chunks that hold the selection", async () => {
  const file = await makeMcap({ chunkBytes: 50_000, durationSeconds: 60, compression: "" });
  const source = countReads(bytesSource(file));
  const window = { startNs: START_NS + 30_000n * MS, endNs: START_NS + 31_000n * MS };
  const written = await cut(source, { ...window, topics: ["/imu", "/camera"] });
  const messages = await readIndexedMessages(written);
  assert.equal(
    messages.length,
    readMessages(await exportBytes(file, { ...window, topics: ["/imu", "/camera"] })).length,
  );
  // Chunks are read twice: to verify them, and to copy their messages.
  assert.ok(source.bytesRead < file.byteLength / 10, `${source.bytesRead} of ${file.byteLength} bytes were read`);
});

test("of a bag with an index little more is read than the chunks that hold the selection", async () => {
  const bag = await makeBag({ chunkBytes: 20_000, durationSeconds: 120, compression: "none" });
  const source = countReads(bytesSource(bag));
  const window = { fileName: "a.bag", startNs: START_NS + 60_000n * MS, endNs: START_NS + 61_000n * MS };
  const written = await cut(source, window);
  assert.deepEqual(
    sorted(await readIndexedMessages(written)),
    sorted(readMessages(await exportBytes(bag, { ...window, fileName: "a.bag" }))),
  );
  assert.ok(source.bytesRead < bag.byteLength / 10, `${source.bytesRead} of ${bag.byteLength} bytes were read`);
});

test("a bag whose index is cut off is read as a whole", async () => {
  const bag = files.at(-2)!;
  const damaged = bag.slice(0, -10);
  const written = await cut(damaged, { fileName: "a.bag", topics: ["/imu"] });
  const expected = readMessages(await exportBytes(bag, { fileName: "a.bag", topics: ["/imu"] }));
  assert.deepEqual(sorted(await readIndexedMessages(written)), sorted(expected));
});

test("the metadata of the file come first, and the given ones last", async () => {
  const written = await cut(files[0]!, { metadata: [{ name: "downlink.cut", metadata: { from: "x" } }] });
  const found = await inspectRecording(bytesSource(written), { fileName: "cut.mcap" });
  assert.ok(found.state === "finished");
  assert.deepEqual(
    found.summary.metadata.map(({ name }) => name),
    ["downlink", "downlink.cut"],
  );
});

test("a damaged chunk is left out, and the cut says so", async () => {
  const damaged = new Uint8Array(await makeMcap({ chunkBytes: 20_000, compression: "" }));
  damaged.fill(0xff, damaged.byteLength / 2, damaged.byteLength / 2 + 64);
  const whole = readMessages(files[0]!);
  const written = await cut(damaged);
  const found = await inspectRecording(bytesSource(written), { fileName: "cut.mcap" });
  assert.ok(found.state === "finished");
  assert.ok(found.summary.messageCount < whole.length && found.summary.messageCount > whole.length / 2);
  assert.match(JSON.stringify(found.summary.metadata), /downlink\.export.*skipped/);
});
