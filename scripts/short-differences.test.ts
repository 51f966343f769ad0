import assert from "node:assert/strict";
import { test } from "node:test";
import { shortenDifferences } from "./short-differences.ts";

const never: typeof assert.deepEqual = () => assert.fail("what is large is not compared line by line");
const deepEqual: typeof assert.deepEqual = shortenDifferences(never);
const numbers = Array.from({ length: 5000 }, (_, at) => at);

test("of large values that differ the first difference is named, however deep it lies", () => {
  const bytes = Buffer.alloc(1_000_000);
  const other = Buffer.from(bytes).fill(7, 999_999);
  assert.throws(() => deepEqual(bytes, other), /^AssertionError.*: \[999999\] is 0, and was to be 7$/);
  assert.throws(() => deepEqual(bytes, bytes.subarray(1)), /\[999999\] is 0, and was to be undefined/);
  const rows = numbers.map((id) => ({ id, of: new Map([["a b", [id]]]) }));
  const changed = structuredClone(rows);
  changed[4321]!.of.get("a b")![0] = -1;
  assert.throws(
    () => deepEqual(rows, changed, "the rows"),
    /the rows: \[4321\]\.of\.get\('a b'\)\[0\] is 4321, and was to be -1/,
  );
  assert.throws(() => deepEqual(new Set(numbers), new Set([...numbers].reverse().slice(1))), /is /);
  assert.throws(() => deepEqual(Buffer.alloc(9000), new Uint8Array(9000)), /the value is /);
  assert.throws(() => deepEqual(bytes, other, new RangeError("own")), RangeError);
});

test("equal ones pass, and small ones are compared as always", () => {
  deepEqual(Buffer.alloc(9000, 1), Buffer.alloc(9000, 1));
  deepEqual(numbers, [...numbers]);
  assert.throws(
    () => shortenDifferences(assert.deepEqual)([1, 2], [1, 3]),
    /Expected values to be strictly deep-equal/,
  );
});

test("every process of tests has it", () =>
  assert.throws(() => assert.deepEqual(Buffer.alloc(9000, 1), Buffer.alloc(9000, 2)), /\[0\] is 1, and was to be 2/));
