import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { findGaps } from "./gaps.ts";
import { columnTimes, toPoints } from "./series.ts";

const COLUMNS = { startNs: 0, endNs: 1000, count: 10 };
const samples = fc
  .array(
    fc.record({
      timeNs: fc.integer({ min: 0, max: 1000 }),
      value: fc.double({ noNaN: true, noDefaultInfinity: true }),
    }),
  )
  .map((list) => list.sort((a, b) => a.timeNs - b.timeNs));

test("each column has its least and its most value, in the order in which they came, by a plain computation", () => {
  fc.assert(
    fc.property(samples, (list) => {
      const points = toPoints(list, COLUMNS, []);
      for (let column = 0; column < COLUMNS.count; column += 1) {
        const inside = list
          .filter(({ timeNs }) => Math.min(9, Math.floor(timeNs / 100)) === column)
          .map(({ value }) => value);
        const pair = points.slice(2 * column, 2 * column + 2).filter((point) => typeof point === "number");
        assert.equal(pair.length, Math.min(2, inside.length));
        if (inside.length === 0) continue;
        assert.equal(Math.min(...pair), Math.min(...inside));
        assert.equal(Math.max(...pair), Math.max(...inside));
      }
    }),
  );
});

test("a peak of a single message in a hundred thousand is drawn", () => {
  const list = Array.from({ length: 100_000 }, (_, index) => ({
    timeNs: index / 100,
    value: index === 77_777 ? 99 : 0,
  }));
  assert.equal(toPoints(list, COLUMNS, []).filter((point) => point === 99).length, 1);
});

test("what is no number breaks the line, and does not hide a number beside it", () => {
  const list = [NaN, 1, Infinity].map((value, index) => ({ timeNs: index, value }));
  assert.deepEqual(toPoints(list, COLUMNS, []).slice(0, 2), [1, undefined]);
  assert.deepEqual(toPoints([{ timeNs: 0, value: NaN }], COLUMNS, []).slice(0, 2), [null, undefined]);
  assert.deepEqual(toPoints([{ timeNs: 0, value: undefined }], COLUMNS, [])[0], undefined);
});

test("a gap breaks the line from one side to the other, also where it reaches beyond the window", () => {
  const at = (gap: { startNs: number; endNs: number }) =>
    toPoints([], COLUMNS, [gap]).flatMap((point, index) => (point === null ? [index] : []));
  assert.deepEqual(at({ startNs: 250, endNs: 500 }), [5, 6, 7, 8, 9]);
  assert.deepEqual(at({ startNs: -500, endNs: 200 }), [0, 1, 2, 3]);
  assert.deepEqual(at({ startNs: 950, endNs: 5000 }), [19]);
  assert.deepEqual(at({ startNs: 210, endNs: 290 }), []);
  const drawn = [250, 500].map((timeNs) => ({ timeNs, value: 7 }));
  assert.deepEqual(toPoints(drawn, COLUMNS, [{ startNs: 250, endNs: 500 }]).slice(4, 11), [
    7,
    null,
    null,
    null,
    null,
    null,
    7,
  ]);
});

test("a silence of more than three times the usual is a gap, bursts of one time do not make the rest one", () => {
  assert.deepEqual(findGaps([0, 10, 20, 30, 61, 71]), [{ startNs: 30, endNs: 61 }]);
  assert.deepEqual(findGaps([0, 10, 20, 30, 60, 70]), []);
  assert.deepEqual(findGaps([0, 0, 0, 10, 10, 10, 20, 20, 20]), []);
  assert.deepEqual(findGaps([0, 1_000_000]), []);
  assert.deepEqual(findGaps([]), []);
});

test("the times of the points lie within the window, two a column", () => {
  assert.deepEqual(columnTimes({ startNs: 100, endNs: 140, count: 2 }), [105, 115, 125, 135]);
});
