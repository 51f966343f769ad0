import assert from "node:assert/strict";
import { test } from "node:test";
import { advance } from "./player.ts";

test("the moment goes on by the time that passed, never back, and stops at the end", () => {
  const start = 1_767_323_045_000_000_001n;
  assert.equal(advance(start, 16.667, start + 10n ** 9n), start + 16_667_000n);
  assert.equal(advance(start, -1, start + 10n), start);
  assert.equal(advance(start, 60_000, start + 10n), start + 10n);
});
