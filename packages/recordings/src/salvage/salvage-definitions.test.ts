import assert from "node:assert/strict";
import { test } from "node:test";
import { inspectRecording } from "../inspect/inspect.ts";
import { bytesSource } from "../sources/source.ts";
import { chunksOf, hundredChunks } from "../testing/hundred-chunks.ts";
import { readMessages } from "../testing/read-messages.ts";
import { salvage, salvagePool } from "../testing/salvage-bytes.ts";

// Parts of a damaged file that describe its messages may be damaged, too.

/** Requires that survey and salvage give so many messages, all of them of one topic. */
async function requireCount(bytes: Uint8Array, count: number): Promise<void> {
  const topics = readMessages(await salvage(bytes, "run.mcap", salvagePool)).map(({ topic }) => topic);
  assert.deepEqual([topics.length, [...new Set(topics)]], [count, ["/a"]]);
  const inspection = await inspectRecording(bytesSource(bytes), { fileName: "run.mcap", salvage: true });
  assert.ok("salvage" in inspection && inspection.salvage);
  assert.deepEqual([inspection.salvage.messageCount, inspection.salvage.topics], [count, ["/a"]]);
}

test("what a damaged summary repeats counts only until the data say it", async () => {
  for (const compression of ["", "lz4", "zstd"] as const) {
    const whole = Buffer.from(await hundredChunks(compression));
    const [first] = chunksOf(whole);
    const summary = whole.subarray(chunksOf(whole).at(-1)!.end);
    const bad = Buffer.alloc(9 + 4)
      .fill(3, 0, 1)
      .fill(4, 1, 2); // A schema that ends in the middle of a field.
    summary[summary.indexOf("/a\u0004\0\0\0text") + 1]! ^= 2; // The topic.
    const countAt = summary.indexOf(Buffer.from([0xe8, 3, 0, 0, 0, 0, 0, 0])); // By the statistics.
    summary[countAt]! ^= 1;
    // The summary begins later by the record that was put in, and has no checksum.
    const footer = whole.subarray(-8 - 20);
    footer.writeBigUInt64LE(footer.readBigUInt64LE(0) + BigInt(bad.byteLength), 0);
    footer.fill(0, 8, 20);
    await requireCount(Buffer.concat([whole.subarray(0, first!.at), bad, whole.subarray(first!.at)]), 1000);
  }
});

test("a chunk that fails its checksum says all the same what the messages of the others are", async () => {
  for (const compression of ["", "lz4", "zstd"] as const) {
    const whole = Buffer.from(await hundredChunks(compression));
    const [first, ...others] = chunksOf(whole);
    whole[first!.at + 33]! ^= 1; // The checksum.
    const bare = whole.subarray(0, others.at(-1)!.end); // No summary repeats the channel.
    await requireCount(bare, 1000 - first!.messageCount);
  }
});
