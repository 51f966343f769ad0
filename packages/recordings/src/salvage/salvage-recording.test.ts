import assert from "node:assert/strict";
import { test } from "node:test";
import { inspectRecording } from "../inspect.ts";
import { bytesSource } from "../source.ts";
import { collect } from "../testing/collect.ts";
import { corrupt } from "../testing/corrupt.ts";
import { makeBag } from "../testing/make-bag.ts";
import { makeMcap } from "../testing/make-mcap.ts";
import { type ReadMessage, readIndexedMessages, readMessages, readRecords } from "../testing/read-messages.ts";
import { writeMessages } from "../testing/write-messages.ts";
import { SalvageEmpty, type SalvageOptions, salvageRecording } from "./salvage-recording.ts";

const describe: SalvageOptions["describe"] = ({ lostBytes }) => ({
  name: "downlink.salvage",
  metadata: { lostBytes: `${lostBytes}` },
});

function salvage(bytes: Uint8Array, fileName = "run.mcap"): Promise<Uint8Array> {
  return collect(salvageRecording(bytesSource(bytes), { fileName, describe }));
}

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
    const told = await inspectRecording(bytesSource(cut), { fileName: "run.mcap", salvage: true });
    assert.equal(told.state, "incomplete");

    const salvaged = await salvage(cut);
    const inspection = await inspectRecording(bytesSource(salvaged), { fileName: "run.mcap", verifyChunks: true });
    assert.ok(inspection.state === "finished" && told.state === "incomplete" && told.salvage);
    const { startNs, endNs, messageCount, lostBytes } = told.salvage;
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
  const inspection = await inspectRecording(bytesSource(await salvage(whole.slice(0, -100))), { fileName: "a.mcap" });
  assert.ok(inspection.state === "finished");
  assert.deepEqual(inspection.summary.identity, { deviceName: "rover" });
});

test("whatever was done to a file, its salvage is a finished recording, or it is said that nothing can be read", async () => {
  const attachments = [0, 1].map((seed) => ({ name: `map-${seed}.bin`, data: new Uint8Array(20_000).fill(seed + 1) }));
  const whole = await makeMcap({ chunkBytes: 20_000, attachments });
  let salvaged = 0;
  for (const { name, bytes, fileName } of corrupt(whole, "run.mcap")) {
    try {
      const inspection = await inspectRecording(bytesSource(await salvage(bytes, fileName)), {
        fileName: "a.mcap",
        verifyChunks: true,
      });
      assert.ok(inspection.state === "finished" || inspection.state === "empty", `${name}: ${inspection.state}`);
      salvaged += 1;
    } catch (error) {
      assert.ok(error instanceof SalvageEmpty, `${name}: ${String(error)}`);
    }
  }
  assert.ok(salvaged > 20, `${salvaged} variants`);
});

/** A file of about 100 chunks of one topic, about 10 messages each. */
async function hundredChunks(compression: "" | "lz4" | "zstd"): Promise<Uint8Array> {
  const messages = Array.from({ length: 1000 }, (_, index) => {
    return { topic: "/a", logTimeNs: BigInt(index), data: Buffer.alloc(100, `${index} of a thousand `) };
  });
  return writeMessages({ messages, topics: ["/a"], schema: "one", compression, chunkBytes: 1240, isIndexed: true });
}

interface Place {
  at: number;
  bytes: number;
  messageCount: number;
  /** Of its message indexes too. */
  end: number;
}

function chunksOf(bytes: Uint8Array): Place[] {
  const { records } = readRecords(bytes);
  const counts = records.filter((record) => record.type === "MessageIndex").map((index) => index.records.length);
  return records
    .filter((record) => record.type === "ChunkIndex")
    .map(({ chunkStartOffset, chunkLength, messageIndexLength }, index) => {
      const [at, size] = [Number(chunkStartOffset), Number(chunkLength)];
      return { at, bytes: size, end: at + size + Number(messageIndexLength), messageCount: counts[index]! };
    });
}

test("one flipped bit anywhere costs the chunk that it is in, not those behind it", async () => {
  for (const compression of ["", "lz4", "zstd"] as const) {
    const whole = await hundredChunks(compression);
    const places = chunksOf(whole);
    const { at, bytes, messageCount } = places[4]!;
    assert.ok(places.length >= 100 && messageCount <= 10);
    // Opcode, the record's length, times, sizes, checksum, the name of the compression, the content.
    for (const offset of [0, 1, 3, 8, 9, 24, 25, 31, 33, 37, 40, 41, 48, 60, bytes - 1])
      for (const bit of [1, 0x40]) {
        const salvaged = readMessages(await salvage(whole.with(at + offset, whole[at + offset]! ^ bit)));
        assert.ok(
          salvaged.length >= 1000 - messageCount,
          `${compression} byte ${offset} bit ${bit}: ${salvaged.length} of 1000`,
        );
      }
  }
});

test("a file that was cut in the message index behind its only chunk keeps the chunk", async () => {
  for (const compression of ["", "zstd"] as const) {
    const whole = await makeMcap({ chunkBytes: 50_000_000, compression });
    const [only] = chunksOf(whole);
    const cut = whole.slice(0, only!.at + only!.bytes + 20);
    const told = await inspectRecording(bytesSource(cut), { fileName: "run.mcap", salvage: true });
    const count = readMessages(whole).length;
    assert.ok(told.state === "incomplete" && told.salvage);
    assert.equal(told.salvage.messageCount, count);
    assert.equal(readMessages(await salvage(cut)).length, count);
  }
});

test("a chunk that lies about its size does not end the salvage", async () => {
  const whole = await hundredChunks("zstd");
  const { at, messageCount } = chunksOf(whole)[4]!;
  for (const size of [2n ** 20n, 2n ** 28n, 2n ** 34n, 2n ** 62n]) {
    const lying = Buffer.from(whole);
    lying.writeBigUInt64LE(size, at + 25);
    assert.equal(readMessages(await salvage(lying)).length, 1000 - messageCount, `${size}`);
  }
});

test("behind a hole the next chunk is found, by the summary or without one", async () => {
  for (const compression of ["", "lz4", "zstd"] as const) {
    const whole = await hundredChunks(compression);
    const places = chunksOf(whole);
    const holed = new Uint8Array(whole).fill(0, places[20]!.at + 3, places[30]!.at + 50);
    const left = places
      .filter((_, index) => index < 20 || index > 30)
      .reduce((sum, place) => sum + place.messageCount, 0);
    assert.equal(readMessages(await salvage(holed)).length, left);
    const cut = holed.subarray(0, places.at(-1)!.end);
    const salvaged = await salvage(cut);
    assert.equal(readMessages(salvaged).length, left);
    const { records } = readRecords(salvaged);
    const told = records.find((record) => record.type === "Metadata" && record.name === "downlink.export");
    assert.ok(told?.type === "Metadata");
    assert.match(told.metadata.get("messagesLost")!, /^at least/);
    assert.match(told.metadata.get("skippedRanges")!, /bytes from byte/);
  }
});
