import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { hashBlob } from "./hash-blob.ts";

const PIECE = 2 * 1024 * 1024;
const MOST = 5 * 1024 * 1024;

async function checkHash(size: number): Promise<void> {
  const bytes = randomBytes(size);
  const hashed: number[] = [];
  const digest = await hashBlob(new Blob([bytes]), (count) => hashed.push(count));
  assert.equal(Buffer.from(digest).toString("hex"), createHash("sha256").update(bytes).digest("hex"), `${size} bytes`);
  assert.equal(hashed.at(-1) ?? 0, size);
  assert.deepEqual(
    hashed,
    hashed.toSorted((a, b) => a - b),
  );
}

test("the hash of a blob is that of Node, at the edges of pieces and blocks", async () => {
  for (const size of [0, 1, 55, 56, 63, 64, 65, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE]) await checkHash(size);
});

test("the hash of a blob is that of Node for any size", async () => {
  await fc.assert(fc.asyncProperty(fc.nat(MOST), checkHash), { numRuns: 10 });
});

test("a part of a blob is hashed alone", async () => {
  const bytes = randomBytes(3000);
  const digest = await hashBlob(new Blob([bytes]).slice(1000, 2500));
  const expected = createHash("sha256").update(bytes.subarray(1000, 2500)).digest();
  assert.ok(expected.equals(Buffer.from(digest)));
});
