import assert from "node:assert/strict";
import { test } from "node:test";
import { readActivity } from "./activity.ts";

test("a single busy moment of 256 is seen in any number of columns, at its place", () => {
  for (const columns of [1, 7, 64, 256]) {
    const bins = Buffer.alloc(256);
    bins[200] = 255;
    const shown = readActivity(bins.toString("base64"), columns);
    assert.deepEqual([shown.length, shown.filter((part) => part === 1).length], [columns, 1]);
    assert.ok(Math.abs(shown.indexOf(1) - Math.floor((200 * columns) / 256)) <= 1);
  }
  assert.deepEqual(readActivity("", 3), [0, 0, 0]);
});
