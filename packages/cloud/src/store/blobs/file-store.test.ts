import assert from "node:assert/strict";
import { stat } from "node:fs/promises";
import { test } from "node:test";
import { firstCases } from "@downlink/recordings/testing";
import { describeBlobStore } from "./blob-store.suite.ts";
import { filesOf } from "./file-layout.ts";
import { serveFileStore } from "./testing/open-file-store.ts";
import { inPieces, newKey } from "./testing/pieces.ts";

for (const [name, limits] of firstCases(1, [
  ["file store", {}],
  ["file store without memory for parts", { partMemoryBytes: 0 }],
] as const))
  describeBlobStore(name, () => serveFileStore(limits));

test("blocks of zeros take no room", async () => {
  await using tested = await serveFileStore();
  const [key, sizeBytes] = [newKey(), 8 * 1024 * 1024];
  await tested.store.put(key, inPieces(Buffer.alloc(sizeBytes), 1024 * 1024));
  const { size, blocks } = await stat(filesOf(tested.directory, key).object);
  assert.equal(size, sizeBytes);
  assert.ok(blocks * 512 < 1024 * 1024, `${blocks} blocks`);
});
