import assert from "node:assert/strict";
import { test } from "node:test";
import { formatBytes, formatCount, formatMany } from "./bytes.ts";

test("sizes have decimal units and never four digits before the point", () => {
  for (const [bytes, text] of [
    [0, "0 B"],
    [999, "999 B"],
    [1000, "1.0 kB"],
    [9_940, "9.9 kB"],
    [9_960, "10 kB"],
    [999_600, "1.0 MB"],
    [412_345_678, "412 MB"],
    [4.1e9, "4.1 GB"],
    [5e18, "5000 PB"],
  ] as const)
    assert.equal(formatBytes(bytes), text);
  assert.equal(formatCount(1_020_000), "1,020,000");
});

test("one is not counted in the plural", () => {
  assert.deepEqual(
    [0, 1, 2, 1020].map((count) => formatMany(count, "episode")),
    ["0 episodes", "1 episode", "2 episodes", "1,020 episodes"],
  );
  assert.equal(formatMany(3, "entry", "entries"), "3 entries");
});
