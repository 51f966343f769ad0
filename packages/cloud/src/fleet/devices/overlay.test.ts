import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type Interval, overlay } from "./overlay.ts";

function interval(id: string, startNs: bigint, endNs: bigint | null): Interval {
  return { id, startNs, endNs, value: id };
}

const edit = { startNs: 10n, endNs: 20n, value: "new" };
const inserted = { startNs: 10n, endNs: 20n, value: "new" };

test("an interval that only touches the range stays", () => {
  const plan = overlay([interval("a", 0n, 10n), interval("b", 20n, 30n), interval("c", 30n, null)], edit);
  assert.deepEqual(plan, { deletedIds: [], trimmed: [], inserted: [inserted] });
});

test("an interval inside the range is deleted, even if it has the very same ends", () => {
  assert.deepEqual(overlay([interval("a", 10n, 20n)], edit).deletedIds, ["a"]);
  assert.deepEqual(overlay([interval("a", 10n, 12n), interval("b", 12n, 20n)], edit).deletedIds, ["a", "b"]);
});

test("an interval that reaches into the range from either side is trimmed and keeps its id", () => {
  const { trimmed, deletedIds } = overlay([interval("a", 5n, 11n), interval("b", 19n, 25n)], edit);
  assert.deepEqual(trimmed, [
    { id: "a", startNs: 5n, endNs: 10n },
    { id: "b", startNs: 20n, endNs: 25n },
  ]);
  assert.deepEqual(deletedIds, []);
});

test("an interval around the range is split; the earlier part keeps the id", () => {
  const plan = overlay([interval("a", 5n, 25n)], edit);
  assert.deepEqual(plan.trimmed, [{ id: "a", startNs: 5n, endNs: 10n }]);
  assert.deepEqual(plan.inserted, [inserted, { startNs: 20n, endNs: 25n, value: "a" }]);
});

test("an open interval is cut at its past part and stays open after it", () => {
  assert.deepEqual(overlay([interval("a", 15n, null)], edit).trimmed, [{ id: "a", startNs: 20n, endNs: null }]);
  const { trimmed, inserted: parts } = overlay([interval("a", 5n, null)], edit);
  assert.deepEqual(trimmed, [{ id: "a", startNs: 5n, endNs: 10n }]);
  assert.deepEqual(parts, [inserted, { startNs: 20n, endNs: null, value: "a" }]);
});

test("an edit without a value empties the range", () => {
  const plan = overlay([interval("a", 5n, 15n)], { ...edit, value: undefined });
  assert.deepEqual(plan, { deletedIds: [], trimmed: [{ id: "a", startNs: 5n, endNs: 10n }], inserted: [] });
});

test("after any edits each moment has the value of the last edit that covers it, and no two intervals overlap", () => {
  const LAST = 12;
  const edits = fc.array(
    fc.record({
      start: fc.integer({ min: 0, max: LAST - 1 }),
      length: fc.integer({ min: 1, max: LAST }),
      value: fc.option(fc.constantFrom("x", "y", "z"), { nil: undefined }),
    }),
    { maxLength: 12 },
  );
  fc.assert(
    fc.property(edits, (made) => {
      const moments = new Array<string | undefined>(2 * LAST).fill("now");
      let intervals: Interval[] = [{ id: "0", startNs: 0n, endNs: null, value: "now" }];
      for (const [number, { start, length, value }] of made.entries()) {
        moments.fill(value, start, start + length);
        const plan = overlay(intervals, { startNs: BigInt(start), endNs: BigInt(start + length), value });
        const kept = intervals
          .filter(({ id }) => !plan.deletedIds.includes(id))
          .map((old) => ({ ...old, ...plan.trimmed.find(({ id }) => id === old.id) }));
        intervals = [...kept, ...plan.inserted.map((part, index) => ({ ...part, id: `${number + 1}.${index}` }))];
      }
      const found = moments.map((_, moment) =>
        intervals.filter(({ startNs, endNs }) => startNs <= moment && (endNs === null || endNs > moment)),
      );
      assert.ok(found.every((covering) => covering.length <= 1));
      assert.deepEqual(
        found.map(([covering]) => covering?.value),
        moments,
      );
      assert.ok(intervals.every(({ startNs, endNs }) => endNs === null || startNs < endNs));
    }),
  );
});
