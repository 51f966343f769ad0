import assert from "node:assert/strict";
import { test } from "node:test";
import { inspectRecording } from "../inspect/inspect.ts";
import { bytesSource } from "../sources/source.ts";
import { exportBytes } from "../testing/export-bytes.ts";
import { chunksOf } from "../testing/hundred-chunks.ts";
import { readMessages, readRecords } from "../testing/read-messages.ts";
import { salvage } from "../testing/salvage-bytes.ts";
import { writeMessages } from "../testing/write-messages.ts";

const START_NS = 1_714_000_000_000_000_000n;

/** A file without checksums, in the third chunk of which messages were overwritten with other times. */
async function overwrite(times: readonly bigint[]): Promise<Buffer> {
  const messages = Array.from({ length: 200 }, (_, index) => {
    return { topic: "/a", logTimeNs: START_NS + BigInt(index), data: Buffer.alloc(100, "x") };
  });
  const about = { topics: ["/a"], schema: "s", compression: "", chunkBytes: 2000, isIndexed: true } as const;
  const bytes = Buffer.from(await writeMessages({ messages, ...about }));
  const places = chunksOf(bytes);
  for (const { at } of places) bytes.writeUInt32LE(0, at + 33);
  const footer = readRecords(bytes).records.find((record) => record.type === "Footer")!;
  bytes.writeUInt32LE(0, Number(footer.summaryStart) - 4);
  const firstMessage = places[2]!.at + 49;
  for (const [index, time] of times.entries()) bytes.writeBigUInt64LE(time, firstMessage + index * (9 + 22 + 100) + 15);
  return bytes;
}

test("messages whose times contradict the head and the index of their chunk are kept and reported, and make no range of centuries", async () => {
  const bytes = await overwrite([3n, 9_100_000_000_000_000_000n, 2n ** 64n - 616n, 0n]);
  const found = await inspectRecording(bytesSource(bytes), { fileName: "a.mcap", verifyChunks: true });
  assert.ok(found.state === "finished");
  const { messageCount, startNs, endNs, damage, topics } = found.summary;
  assert.deepEqual([messageCount, startNs, endNs], [200, START_NS, START_NS + 199n]);
  assert.deepEqual([topics[0]!.startNs, topics[0]!.endNs], [startNs, endNs]);
  assert.deepEqual([damage?.messagesDoubted, damage?.messagesLost, damage?.isCountKnown], [4, 0, true]);
  assert.match(damage!.reasons[0]!.text, /4 messages with impossible times/);
  for (const written of [await exportBytes(bytes), await salvage(bytes)]) {
    const times = readMessages(written).map(({ logTimeNs }) => logTimeNs);
    assert.deepEqual([times.length, times[0], times[1], times.at(-1)], [200, 0n, 3n, 2n ** 64n - 616n]);
  }
});

test("a time that the message index confirms is no doubt, however far it is", async () => {
  const messages = [0n, START_NS, START_NS + 1n].map((logTimeNs) => ({
    topic: "/a",
    logTimeNs,
    data: Buffer.alloc(10),
  }));
  const about = { topics: ["/a"], schema: "s", compression: "zstd", chunkBytes: 2000, isIndexed: true } as const;
  const bytes = Buffer.from(await writeMessages({ messages, ...about }));
  bytes.writeBigUInt64LE(START_NS, chunksOf(bytes)[0]!.at + 9);
  const found = await inspectRecording(bytesSource(bytes), { fileName: "a.mcap", verifyChunks: true });
  assert.ok(found.state === "finished");
  assert.deepEqual([found.summary.startNs, found.summary.endNs], [0n, START_NS + 1n]);
  assert.equal(found.summary.damage?.messagesDoubted, undefined);
});
