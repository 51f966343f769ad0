import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { isWithin, rowsInSight, withOverscan } from "./rows-in-sight.ts";

test("every row of which a pixel is seen is in sight, and eight rows can be scrolled before another picture is needed", () => {
  const scrolls = fc.record({
    topPx: fc.integer({ min: 0, max: 24_000 }),
    heightPx: fc.integer({ min: 1, max: 1200 }),
    rowPx: fc.constantFrom(4, 24),
    count: fc.integer({ min: 0, max: 1000 }),
  });
  fc.assert(
    fc.property(scrolls, (scrolled) => {
      const { topPx, heightPx, rowPx, count } = scrolled;
      const inSight = rowsInSight(scrolled);
      for (let row = 0; row < count; row++) {
        const isSeen = row * rowPx < topPx + heightPx && (row + 1) * rowPx > topPx;
        assert.equal(row >= inSight.firstRow && row < inSight.endRow, isSeen);
      }
      const drawn = withOverscan(inSight, count);
      for (const by of [0, 8 * rowPx, -8 * rowPx]) {
        const moved = { ...scrolled, topPx: topPx + by };
        if (moved.topPx >= 0 && moved.topPx + heightPx <= count * rowPx) assert.ok(isWithin(rowsInSight(moved), drawn));
      }
    }),
  );
});
