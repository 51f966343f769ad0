import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { collect } from "../testing/collect.ts";
import { indexedSource } from "../testing/export-bytes.ts";
import { readIndexedMessages, readMessages } from "../testing/read-messages.ts";
import { writeMessages } from "../testing/write-messages.ts";
import { digestTopics } from "./digest-topics.ts";
import { splitRecording } from "./split-recording.ts";

const folder = await mkdtemp(join(tmpdir(), "split-"));
after(() => rm(folder, { recursive: true }));
const spillPath = join(folder, "spill");

test("messages that are too large to be held, and more than the memory for all, come out whole", async () => {
  const small = Array.from({ length: 60 }, (_, index) => `/${index}`);
  const block = (fill: number, mebibytes: number) => new Uint8Array(mebibytes * 1024 * 1024).fill(fill);
  const messages = [
    { topic: "/huge", logTimeNs: 1n, data: Uint8Array.of(1) },
    { topic: "/huge", logTimeNs: 2n, data: block(2, 17) },
    ...small.map((topic, index) => ({ topic, logTimeNs: 3n, data: block(index, 0.9) })),
    { topic: "/huge", logTimeNs: 4n, data: Uint8Array.of(4) },
    ...small.map((topic) => ({ topic, logTimeNs: 5n, data: Uint8Array.of(5) })),
  ];
  const plain = { topics: ["/huge", ...small], schema: "s", isIndexed: true } as const;
  const bytes = await writeMessages({ ...plain, messages, compression: "zstd", chunkBytes: 1_000_000 });
  await using whole = await splitRecording(await indexedSource(bytes), { spillPath });
  for (const { open, ...about } of whole.topics) {
    const written = await collect(open());
    const expected = messages.filter(({ topic }) => topic === about.topic);
    const read = readMessages(written);
    assert.deepEqual(
      read.map(({ logTimeNs }) => logTimeNs),
      expected.map(({ logTimeNs }) => logTimeNs),
    );
    assert.ok(read.every(({ data }, at) => Buffer.compare(data, expected[at]!.data) === 0));
    assert.equal((await readIndexedMessages(written)).length, expected.length);
    assert.deepEqual(await digestTopics(await indexedSource(written)), [about]);
  }
});
