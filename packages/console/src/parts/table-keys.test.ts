import assert from "node:assert/strict";
import { test } from "node:test";
import { rowAfter } from "./table-keys.ts";

test("keys move within the list and stop at its ends", () => {
  assert.equal(rowAfter("j", { at: 4, count: 10 }), 5);
  assert.equal(rowAfter("ArrowDown", { at: 9, count: 10 }), 9);
  assert.equal(rowAfter("PageUp", { at: 5, count: 100 }), 0);
  assert.equal(rowAfter("End", { at: 0, count: 100 }), 99);
  assert.equal(rowAfter("a", { at: 0, count: 100 }), undefined);
  assert.equal(rowAfter("j", { at: 0, count: 0 }), undefined);
});
