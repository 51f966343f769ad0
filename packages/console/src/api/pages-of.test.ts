import assert from "node:assert/strict";
import { test } from "node:test";
import { countRows, pagesOf } from "./pages-of.ts";

test("the pages that are asked for hold what is looked at, and end where the list does", () => {
  assert.deepEqual(pagesOf({ first: 0, last: 39 }, { rows: 200, total: undefined }), [0]);
  assert.deepEqual(pagesOf({ first: 190, last: 230 }, { rows: 200, total: 1000 }), [0, 1]);
  assert.deepEqual(pagesOf({ first: 950, last: 1400 }, { rows: 200, total: 1000 }), [4]);
  assert.deepEqual(pagesOf({ first: 0, last: 5000 }, { rows: 200, total: 9000 }), [0, 1, 2]);
  assert.deepEqual(pagesOf({ first: 500, last: 540 }, { rows: 200, total: 0 }), [0]);
});

test("a full page counts one row of the next page, which asks for it once it is looked at; a short page is the last one", () => {
  assert.equal(countRows({ page: 0, length: 200 }, { rows: 200, most: 0 }), 201);
  assert.equal(countRows({ page: 500, length: 200 }, { rows: 200, most: 100_001 }), 100_201);
  assert.equal(countRows({ page: 0, length: 200 }, { rows: 200, most: 1000 }), 1000);
  assert.equal(countRows({ page: 1, length: 7 }, { rows: 200, most: 1000 }), 207);
  assert.equal(countRows({ page: 2, length: 0 }, { rows: 200, most: 0 }), 400);
});
