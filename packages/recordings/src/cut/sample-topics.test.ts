import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesSource, countReads } from "../sources/source.ts";
import { makeBag } from "../testing/make-bag.ts";
import { makeMcap } from "../testing/make-mcap.ts";
import { readMessages } from "../testing/read-messages.ts";
import { sampleTopics } from "./sample-topics.ts";

const RECORD_BYTES = 31;

test("the size of a topic's messages is known within a tenth from a few chunks", async () => {
  const file = await makeMcap({ chunkBytes: 100_000, durationSeconds: 30, compression: "" });
  const source = countReads(bytesSource(file));
  const sampled = await sampleTopics(source);
  const byTopic = Map.groupBy(readMessages(file), ({ topic }) => topic);
  for (const [topic, messages] of byTopic) {
    const bytes = messages.reduce((sum, { data }) => sum + data.byteLength + RECORD_BYTES, 0);
    const ratio = (sampled.get(topic)! * messages.length) / bytes;
    assert.ok(ratio > 0.9 && ratio < 1.1, `${topic}: ${ratio}`);
  }
  assert.ok(source.bytesRead < file.byteLength / 3);
});

test("of a compressed file the sizes are those in the file", async () => {
  const file = await makeMcap({ chunkBytes: 100_000, durationSeconds: 30, compression: "zstd" });
  const sampled = await sampleTopics(bytesSource(file));
  const counts = Map.groupBy(readMessages(file), ({ topic }) => topic);
  let bytes = 0;
  for (const [topic, messages] of counts) bytes += (sampled.get(topic) ?? 0) * messages.length;
  assert.ok(bytes > 0.7 * file.byteLength && bytes < 1.1 * file.byteLength, `${bytes} of ${file.byteLength}`);
});

test("a file whose chunks are not indexed, one without chunks and a bag say nothing", async () => {
  const files = [makeMcap({ isIndexed: false }), makeMcap({ isChunked: false }), makeBag({})];
  for (const file of await Promise.all(files)) assert.equal((await sampleTopics(bytesSource(file))).size, 0);
});
