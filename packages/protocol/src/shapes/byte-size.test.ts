import assert from "node:assert/strict";
import { test } from "node:test";
import { parseByteSize } from "./byte-size.ts";

test("a size is a count of bytes, or has a unit of a thousand or of 1024", () => {
  const sizes = {
    "0": 0,
    "1048576": 1048576,
    "1GB": 1e9,
    "1gb": 1e9,
    "1.5 TB": 1.5e12,
    "500MiB": 500 * 2 ** 20,
    "1TiB": 2 ** 40,
  };
  for (const [text, bytes] of Object.entries(sizes)) assert.equal(parseByteSize(text), bytes, text);
});

test("what is no size, or more bytes than can be counted, is undefined", () => {
  for (const text of ["", "GB", "-1", "1 2GB", "1e9", "1GB/s", "1ib", "10%", "9".repeat(20), "1 GB "])
    assert.equal(parseByteSize(text), undefined, text);
});
