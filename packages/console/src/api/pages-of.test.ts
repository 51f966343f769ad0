import assert from "node:assert/strict";
import { test } from "node:test";
import { pagesOf } from "./pages-of.ts";

test("the pages that are asked for hold what is looked at, and end where the list does", () => {
  assert.deepEqual(pagesOf({ first: 0, last: 39 }, { rows: 200, total: undefined }), [0]);
  assert.deepEqual(pagesOf({ first: 190, last: 230 }, { rows: 200, total: 1000 }), [0, 1]);
  assert.deepEqual(pagesOf({ first: 950, last: 1400 }, { rows: 200, total: 1000 }), [4]);
  assert.deepEqual(pagesOf({ first: 0, last: 5000 }, { rows: 200, total: 9000 }), [0, 1, 2]);
  assert.deepEqual(pagesOf({ first: 500, last: 540 }, { rows: 200, total: 0 }), [0]);
});
