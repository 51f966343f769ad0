import assert from "node:assert/strict";
import { test } from "node:test";
import { readPosition } from "./position.ts";

test("a message without a fix, or beyond the globe, is no position", () => {
  assert.equal(readPosition({ latitude: 1, longitude: 2, status: { status: -1 } }), undefined);
  assert.deepEqual(readPosition({ latitude: 1, longitude: 2, status: { status: 0 } }), { latitude: 1, longitude: 2 });
  for (const latitude of [NaN, 91, -Infinity, "1"]) assert.equal(readPosition({ latitude, longitude: 0 }), undefined);
});
