import assert from "node:assert/strict";
import { test } from "node:test";
import { nextItem } from "./menu-keys.ts";

test("arrows go round a menu, Home and End to its ends, and other keys nowhere", () => {
  assert.equal(nextItem("ArrowDown", { at: 2, count: 3 }), 0);
  assert.equal(nextItem("ArrowDown", { at: -1, count: 3 }), 0);
  assert.equal(nextItem("ArrowUp", { at: 0, count: 3 }), 2);
  assert.equal(nextItem("ArrowUp", { at: -1, count: 3 }), 2);
  assert.equal(nextItem("Home", { at: 2, count: 3 }), 0);
  assert.equal(nextItem("End", { at: 0, count: 3 }), 2);
  assert.equal(nextItem("a", { at: 0, count: 3 }), undefined);
  assert.equal(nextItem("ArrowDown", { at: -1, count: 0 }), undefined);
});
