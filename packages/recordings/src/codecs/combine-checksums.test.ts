import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { crc32 } from "node:zlib";
import { combineChecksums } from "./combine-checksums.ts";

test("the checksum of a whole follows from those of its parts", () => {
  const bytes = randomBytes(100_000);
  for (const at of [0, 1, 2, 31, 32, 4096, 65_535, 99_999, 100_000]) {
    const [first, second] = [bytes.subarray(0, at), bytes.subarray(at)];
    assert.equal(combineChecksums(crc32(first), crc32(second), second.byteLength), crc32(bytes), `at ${at}`);
  }
});
