import assert from "node:assert/strict";
import { test } from "node:test";
import { inspectRecording } from "../../inspect/inspect.ts";
import { bytesSource, SourceChangedError } from "../../sources/source.ts";
import { exportBytes, exportSource, indexedSource } from "../../testing/export-bytes.ts";
import { readMessages, readRecords } from "../../testing/read-messages.ts";
import { slowTest } from "../../testing/slow-test.ts";
import { writeMessages } from "../../testing/write-messages.ts";

/** Among each four messages two large ones stand side by side. */
const sizes = [10, 40_000, 30_000, 200];
const messages = Array.from({ length: 60 }, (_, index) => ({
  topic: ["/a", "/b", "/b", "/c"][index % 4]!,
  logTimeNs: BigInt(index),
  data: Buffer.alloc(sizes[index % 4]!, index + 1),
}));
const file = {
  topics: ["/a", "/b", "/c"],
  schema: "one",
  compression: "",
  chunkBytes: 300_000,
  isIndexed: true,
} as const;
const selection = { compression: "", topics: ["/b", "/c"] } as const;

test("uncompressed chunks are rewritten with true checksums, whether parts were summed apart or together", async () => {
  const bytes = await writeMessages({ ...file, messages });
  for (const compression of ["", "zstd"] as const) {
    const exported = await exportBytes(bytes, { ...selection, compression });
    const expected = messages.filter(({ topic }) => topic !== "/a");
    const found = readMessages(exported);
    assert.deepEqual(
      found.map(({ logTimeNs, data }) => [logTimeNs, Buffer.from(data)]),
      expected.map(({ logTimeNs, data }) => [logTimeNs, data]),
    );
    const inspection = await inspectRecording(bytesSource(exported), { fileName: "a.mcap", verifyChunks: true });
    assert.equal(inspection.state, "finished");
  }
});

slowTest("whichever byte of an uncompressed chunk has changed, the export ends, and says so", async () => {
  const sound = new Uint8Array(await writeMessages({ ...file, messages }));
  const { openIndex } = await indexedSource(sound);
  const chunk = readRecords(sound).records.find((record) => record.type === "ChunkIndex")!;
  const [start, lengthBytes] = [Number(chunk.chunkStartOffset), Number(chunk.chunkLength)];
  const heads = Array.from({ length: 150 }, (_, at) => at);
  const behindLarge = Array.from({ length: 120 }, (_, at) => 40_000 + at);
  const others = Array.from({ length: 40 }, (_, index) => Math.floor((index * (lengthBytes - 1)) / 39));
  for (const at of [...heads, ...behindLarge, ...others]) {
    for (const value of [0, 0xff]) {
      if (sound[start + at] === value) continue;
      const changed = exportSource(sound.with(start + at, value), { openIndex });
      await assert.rejects(exportBytes([changed], selection), SourceChangedError, `byte ${at}`);
    }
  }
});
