import assert from "node:assert/strict";
import { test } from "node:test";
import { inspectRecording } from "../inspect/inspect.ts";
import { bytesSource } from "../sources/source.ts";
import { chunksOf, hundredChunks } from "../testing/hundred-chunks.ts";
import { makeBag } from "../testing/make-bag.ts";
import { makeMcap } from "../testing/make-mcap.ts";
import { type ReadMessage, readIndexedMessages, readMessages, readRecords } from "../testing/read-messages.ts";
import { salvage, salvagePool } from "../testing/salvage-bytes.ts";
import { firstCases } from "../testing/slow-test.ts";

function contentOf(messages: readonly ReadMessage[]): string[] {
  return messages.map(({ topic, logTimeNs, data }) => `${topic} ${logTimeNs} ${Buffer.from(data).toString("base64")}`);
}

for (const variant of [
  { chunkBytes: 20_000 },
  { isChunked: false },
  { compression: "" as const, chunkBytes: 20_000 },
]) {
  test(`a recording that was cut off gives every message before the cut, as a finished recording: ${JSON.stringify(variant)}`, async () => {
    const whole = await makeMcap(variant);
    const cut = whole.slice(0, Math.floor(whole.byteLength * 0.6));
    const inspected = await inspectRecording(bytesSource(cut), { fileName: "run.mcap", salvage: true });
    assert.equal(inspected.state, "incomplete");

    const salvaged = await salvage(cut, "run.mcap", salvagePool);
    const inspection = await inspectRecording(bytesSource(salvaged), { fileName: "run.mcap", verifyChunks: true });
    assert.ok(inspection.state === "finished" && inspected.state === "incomplete" && inspected.salvage);
    const { startNs, endNs, messageCount, lostBytes } = inspected.salvage;
    const { summary } = inspection;
    assert.deepEqual([summary.startNs, summary.endNs, summary.messageCount], [startNs, endNs, messageCount]);
    assert.deepEqual(summary.metadata.at(-1), { name: "downlink.salvage", metadata: { lostBytes: `${lostBytes}` } });
    const originals = new Set(contentOf(readMessages(whole)));
    assert.ok(contentOf(await readIndexedMessages(salvaged)).every((message) => originals.has(message)));
    assert.ok(messageCount > originals.size / 3, `${messageCount} of ${originals.size}`);
  });
}

test("a bag that was never closed gives its whole chunks", async () => {
  const salvaged = await salvage(await makeBag({ isFinished: false }), "run.bag.active");
  const whole = await makeBag({});
  const inspection = await inspectRecording(bytesSource(salvaged), { fileName: "run.mcap" });
  const original = await inspectRecording(bytesSource(whole), { fileName: "run.bag" });
  assert.ok(inspection.state === "finished" && original.state === "finished");
  assert.equal(inspection.summary.messageCount, original.summary.messageCount);
});

test("a salvage has no key: the recording, should it be finished later, keeps it", async () => {
  const identity = { deviceName: "rover", key: "run-7" };
  const whole = await makeMcap({ metadata: [{ name: "downlink", metadata: identity }] });
  const salvaged = await salvage(whole.slice(0, -100), "run.mcap", salvagePool);
  const inspection = await inspectRecording(bytesSource(salvaged), { fileName: "a.mcap" });
  assert.ok(inspection.state === "finished");
  assert.deepEqual(inspection.summary.identity, { deviceName: "rover" });
});

test("a file that was cut in the message index behind its only chunk keeps the chunk", async () => {
  for (const compression of ["", "zstd"] as const) {
    const whole = await makeMcap({ chunkBytes: 50_000_000, compression });
    const [only] = chunksOf(whole);
    const cut = whole.slice(0, only!.at + only!.bytes + 20);
    const inspected = await inspectRecording(bytesSource(cut), { fileName: "run.mcap", salvage: true });
    const count = readMessages(whole).length;
    assert.ok(inspected.state === "incomplete" && inspected.salvage);
    assert.equal(inspected.salvage.messageCount, count);
    assert.equal(readMessages(await salvage(cut, "run.mcap", salvagePool)).length, count);
  }
});

test("a chunk that lies about its size does not end the salvage", async () => {
  const whole = await hundredChunks("zstd");
  const { at, messageCount } = chunksOf(whole)[4]!;
  for (const size of firstCases(2, [2n ** 20n, 2n ** 62n, 2n ** 28n, 2n ** 34n])) {
    const lying = Buffer.from(whole);
    lying.writeBigUInt64LE(size, at + 25);
    assert.ok(readMessages(await salvage(lying, "run.mcap", salvagePool)).length >= 1000 - messageCount, `${size}`);
  }
});

test("behind a hole the next chunk is found, by the summary or without one", async () => {
  for (const compression of firstCases(2, ["", "zstd", "lz4"] as const)) {
    const whole = await hundredChunks(compression);
    const places = chunksOf(whole);
    const holed = new Uint8Array(whole).fill(0, places[20]!.at + 3, places[30]!.at + 50);
    const left = places
      .filter((_, index) => index < 20 || index > 30)
      .reduce((sum, place) => sum + place.messageCount, 0);
    assert.equal(readMessages(await salvage(holed, "run.mcap", salvagePool)).length, left);
    const cut = holed.subarray(0, places.at(-1)!.end);
    const salvaged = await salvage(cut, "run.mcap", salvagePool);
    // Without the summary a reader cannot know that the part behind the hole is the rest of a chunk, whose first message is damaged.
    const rest = compression === "" ? places[30]!.messageCount - 1 : 0;
    assert.equal(readMessages(salvaged).length, left + rest);
    const { records } = readRecords(salvaged);
    const report = records.find((record) => record.type === "Metadata" && record.name === "downlink.export");
    assert.ok(report?.type === "Metadata");
    assert.match(report.metadata.get("messagesLost")!, /^at least/);
    assert.match(report.metadata.get("skippedRanges")!, /bytes from byte/);
  }
});
