import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { digestInventory } from "./digest.ts";

test("the digest is the SHA-256 of the sorted lines, whatever the order in which the files come", () => {
  const files = [
    { versionId: "b", state: "settling" as const },
    { versionId: "a", state: "indexed" as const },
    { versionId: "B", state: "empty" as const },
  ];
  const digest = createHash("sha256").update("B empty\na indexed\nb settling\n").digest("hex");
  assert.deepEqual(digestInventory(files), { count: 3, digest });
  assert.deepEqual(digestInventory(files.toReversed()), { count: 3, digest });
});

test("no file at all has the digest of nothing", () => {
  const digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
  assert.deepEqual(digestInventory([]), { count: 0, digest });
});
