import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { bits, fillColumns, LINES, mixPaint, PATTERN_PX, paintRow } from "./paint-row.ts";

const palette = { page: 1, lane: 2, hatch: 3, imported: 4, onItsWay: 5, edgeOnly: 6, failed: 7, event: 8 };
const paint = mixPaint(palette);
const cells = fc.uint8Array({ minLength: 1, maxLength: 60, max: 31 });

/** The slow and obvious way: for each pixel, asks each bin whether the two overlap. All numbers are whole, so that nothing is rounded. */
function overlapping(given: Uint8Array, { startMs, binMs, fromMs, pixelMs, px }: Record<string, number>): number {
  const [left, right] = [fromMs! + px! * pixelMs!, fromMs! + (px! + 1) * pixelMs!];
  return [...given].reduce((all, cell, bin) => {
    const start = startMs! + bin * binMs!;
    return start < right && start + binMs! > left ? all | cell : all;
  }, 0);
}

test("a pixel has all that is in any bin that touches it, at any zoom", () => {
  const scales = fc.record({
    startMs: fc.integer({ min: -500, max: 500 }),
    binMs: fc.integer({ min: 1, max: 40 }),
    fromMs: fc.integer({ min: -500, max: 500 }),
    pixelMs: fc.integer({ min: 1, max: 40 }),
  });
  fc.assert(
    fc.property(cells, scales, (given, { startMs, binMs, fromMs, pixelMs }) => {
      const fromPx = Math.max(0, Math.floor((startMs - fromMs) / pixelMs));
      const toPx = Math.max(fromPx, Math.ceil((startMs + given.length * binMs - fromMs) / pixelMs));
      const columns = new Uint8Array(toPx);
      fillColumns(columns, { cells: given, startMs, binMs, fromPx, toPx }, { fromMs, pixelMs });
      for (let px = fromPx; px < toPx; px++)
        assert.equal(columns[px], overlapping(given, { startMs, binMs, fromMs, pixelMs, px }), `pixel ${px}`);
    }),
    { numRuns: 500 },
  );
});

/** Returns the expected colour at each place, by the words of the design and not by tables. */
function expected(cell: number, line: number, at: number): number {
  const isGap = line === 0;
  if (isGap && cell & bits.event) return palette.event;
  if (cell & bits.failed) return palette.failed;
  if (isGap) return palette.page;
  if (cell & bits.onItsWay) return line === 2 ? palette.onItsWay : palette.lane;
  if (cell & bits.edgeOnly) return at % 4 < 2 ? palette.edgeOnly : palette.lane;
  if (cell & bits.imported) return palette.imported;
  if (cell & bits.unasked) return at < 4 === (line === 1) ? palette.hatch : palette.lane;
  return palette.lane;
}

test("what must not be missed wins, each state has a shape of its own, and an event is seen above all of them", () => {
  const anyCells = fc.uint8Array({ minLength: 1, maxLength: 50 });
  fc.assert(
    fc.property(anyCells, fc.integer({ min: -100, max: 100 }), fc.nat(3), (columns, phasePx, row) => {
      const widthPx = columns.length;
      const pixels = new Uint32Array((row + 2) * LINES * widthPx);
      paintRow(columns, paint, { pixels, widthPx, row, phasePx });
      for (let line = 0; line < LINES; line++)
        for (const [px, cell] of columns.entries()) {
          const at = (((px + phasePx) % PATTERN_PX) + PATTERN_PX) % PATTERN_PX;
          assert.equal(pixels[(row * LINES + line) * widthPx + px], expected(cell, line, at));
        }
      const others = pixels.filter((_, at) => Math.floor(at / (LINES * widthPx)) !== row);
      assert.ok(others.every((pixel) => pixel === 0));
    }),
  );
});

test("no two states look alike without their colours", () => {
  const shapes = [0, bits.imported, bits.onItsWay, bits.edgeOnly, bits.failed, bits.unasked].map((cell) => {
    const columns = new Uint8Array(PATTERN_PX).fill(cell);
    const pixels = new Uint32Array(LINES * PATTERN_PX);
    paintRow(
      columns,
      mixPaint({ page: 0, lane: 0, hatch: 1, imported: 1, onItsWay: 1, edgeOnly: 1, failed: 1, event: 1 }),
      {
        pixels,
        widthPx: PATTERN_PX,
        row: 0,
        phasePx: 0,
      },
    );
    return pixels.join("");
  });
  assert.equal(new Set(shapes).size, shapes.length);
});
