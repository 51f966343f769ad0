import assert from "node:assert/strict";
import { test } from "node:test";
import { exportBytes, exportSource } from "../testing/export-bytes.ts";
import { readMessages } from "../testing/read-messages.ts";
import { refusedWith } from "../testing/refused-with.ts";
import { writeMessages } from "../testing/write-messages.ts";

const plain = { schema: "one", compression: "", chunkBytes: 1_000_000, isIndexed: true } as const;

test("more channels than ids are refused", async () => {
  const perFile = 33_000;
  const sources = await Promise.all(
    [0, 1].map(async (file) => {
      const topics = Array.from({ length: perFile }, (_, index) => `/${file}/${index}`);
      const messages = topics.map((topic) => ({ topic, logTimeNs: BigInt(file), data: new Uint8Array(0) }));
      const bytes = await writeMessages({ ...plain, topics, messages });
      return exportSource(bytes, { startNs: BigInt(file), endNs: BigInt(file) });
    }),
  );
  assert.equal(readMessages(await exportBytes(sources.slice(0, 1))).length, perFile);
  await assert.rejects(exportBytes(sources), refusedWith("TooManyChannels"));
});
