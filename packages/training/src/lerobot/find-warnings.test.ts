import assert from "node:assert/strict";
import { test } from "node:test";
import { findWarnings } from "./find-warnings.ts";
import type { SetColumn } from "./set-columns.ts";

/** An arm that swings; its second joint does the half. */
const swing = Array.from({ length: 300 }, (_, row) => [Math.sin(row / 20), Math.sin(row / 20) / 2]);

function columnOf(rows: readonly (readonly number[])[], rest: Partial<SetColumn> = {}): SetColumn {
  const cells = Float64Array.from(rows.flat());
  return { name: "action", dtype: "float32", width: rows[0]!.length, names: ["base", "elbow"], cells, ...rest };
}

test("an arm that swings has no warning, nor has one that rests at its limit", () => {
  assert.deepEqual(findWarnings([columnOf(swing)]), []);
  const resting = swing.map(([base], row) => [base!, row < 150 ? 1 : 0]);
  assert.deepEqual(findWarnings([columnOf(resting)]), []);
});

test("a feature that never changes is named, and one of which a part changes is not", () => {
  const still = swing.map(() => [0.5, 0.25]);
  const text = "action has the same values in all 300 rows";
  assert.deepEqual(findWarnings([columnOf(still)]), [{ check: "frozen", feature: "action", text }]);
  assert.deepEqual(findWarnings([columnOf(swing.map(([base]) => [base!, 7]))]), []);
  assert.deepEqual(findWarnings([columnOf([[1, 2]])]), []);
});

test("values that stop at a limit again and again are named with their joint, and so is a jump", () => {
  const clipped = swing.map(([base, elbow]) => [base!, Math.min(0.3, elbow!)]);
  const rows = clipped.filter(([, elbow]) => elbow === 0.3).length;
  assert.deepEqual(findWarnings([columnOf(clipped)]), [
    {
      check: "clipped",
      feature: "action",
      text: `action, elbow stops at 0.3 again and again, in ${rows} of 300 rows`,
    },
  ]);
  const misread = swing.with(100, [40, 40]);
  const [jump, ...none] = findWarnings([columnOf(misread)]);
  assert.match(jump!.text, /^action, base jumps from -0\.971903 to 40 in row 100; it is so with 1 more of its values$/);
  assert.deepEqual(none, []);
});

test("a gripper that opens and closes has no warning, and neither has one that rests in each of two pieces", () => {
  const grasps = columnOf(swing.map((_, row) => [Math.floor(row / 50) % 2]));
  const once = columnOf(swing.map((_, row) => [Number(row > 296)]));
  const pieces = [columnOf([[0], [0]]), columnOf([[1], [1]])];
  for (const columns of [[grasps], [once], pieces])
    assert.deepEqual(findWarnings(columns.map((one) => ({ ...one, names: [] }))), []);
  const [first, second] = [columnOf(swing), columnOf(swing.map(([base, elbow]) => [base! + 90, elbow!]))];
  assert.deepEqual(findWarnings([first, second]), []);
});

test("values that are not finite, texts and truths give no warning, and a set of many columns gives ten", () => {
  const holes = swing.map(([base, elbow], row) => (row % 7 === 0 ? [Number.NaN, elbow!] : [base!, elbow!]));
  assert.deepEqual(findWarnings([columnOf(holes), columnOf([[Number.NaN], [Number.NaN]])]), []);
  assert.deepEqual(findWarnings([columnOf(swing, { cells: ["a", "a"], width: 1, dtype: "string" })]), []);
  assert.deepEqual(findWarnings([columnOf([[1], [1], [1]], { dtype: "bool" })]), []);
  const counts = columnOf([[1], [1]], { cells: new BigInt64Array(40), width: 1, dtype: "int64", names: [] });
  const many = Array.from({ length: 30 }, (_, at) => ({ ...counts, name: `count ${at}` }));
  assert.equal(findWarnings(many).length, 10);
});
