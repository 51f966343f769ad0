import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { bits, fillColumns, linesOf, mixPaint, PATTERN_PX, paintRow, stateOf } from "./paint-row.ts";

const palette = { page: 0, hatch: 6, imported: 8, onItsWay: 10, edgeOnly: 12, failed: 14, event: 16 };
const LINES = linesOf(32);
const paint = mixPaint(palette, LINES);
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
  const kind = LINES[line]!;
  if (kind === "event" && cell & bits.event) return palette.event;
  if (kind === "event" || kind === "gap") return palette.page;
  if (cell & bits.failed) return palette.failed;
  const thirds = cell & bits.twoThirds ? 2 : Number((cell & bits.third) > 0);
  const colour = expectedFill(cell, { isFoot: kind === "base", isEven: at < 4 === (line % 2 === 0) });
  const isHigh = kind === "base" || kind === "foot" || kind <= thirds || stateOf(cell) === "unasked";
  return isHigh ? colour : palette.page;
}

function expectedFill(cell: number, { isFoot, isEven }: { isFoot: boolean; isEven: boolean }): number {
  if (cell & bits.onItsWay) return isFoot ? palette.onItsWay : palette.onItsWay / 2;
  if (cell & bits.edgeOnly) return isFoot && cell & bits.imported ? palette.imported : palette.edgeOnly;
  if (cell & bits.imported) return palette.imported;
  return cell & bits.unasked && isEven ? palette.hatch : palette.page;
}

test("what must not be missed wins, a bar is as high as its time is full, and an event is seen above all", () => {
  const anyCells = fc.uint8Array({ minLength: 1, maxLength: 50 });
  fc.assert(
    fc.property(anyCells, fc.integer({ min: -100, max: 100 }), fc.nat(3), (columns, phasePx, row) => {
      const widthPx = columns.length;
      const pixels = new Uint32Array((row + 2) * LINES.length * widthPx);
      paintRow(columns, paint, { pixels, widthPx, row, phasePx });
      for (let line = 0; line < LINES.length; line++)
        for (const [px, cell] of columns.entries()) {
          const at = (((px + phasePx) % PATTERN_PX) + PATTERN_PX) % PATTERN_PX;
          assert.equal(pixels[(row * LINES.length + line) * widthPx + px], expected(cell, line, at));
        }
      const others = pixels.filter((_, at) => Math.floor(at / (LINES.length * widthPx)) !== row);
      assert.ok(others.every((pixel) => pixel === 0));
    }),
  );
});

test("an imported part of a recording that is on the device only is seen below it, in thin rows too", () => {
  for (const lines of [linesOf(32), linesOf(8)]) {
    const seen = mixPaint(palette, lines).map((line) => line[bits.edgeOnly | bits.imported | bits.twoThirds]!);
    assert.equal(seen[lines.indexOf("base")], palette.imported);
    assert.ok(seen.includes(palette.edgeOnly));
  }
});

test("hidden parts are not painted, and what lies below them is", () => {
  const shown = 255 & ~bits.failed & ~bits.event;
  const both = bits.failed | bits.imported | bits.event;
  const colours = mixPaint(palette, LINES, shown).map((line) => line[both]);
  assert.deepEqual(
    colours,
    mixPaint(palette, LINES).map((line) => line[bits.imported]),
  );
});

test("a row too thin for heights shows each state, whatever is full", () => {
  const lines = linesOf(4);
  for (const [cell, colour] of [
    [bits.imported, palette.imported],
    [bits.failed | bits.third, palette.failed],
  ] as const)
    assert.deepEqual(
      mixPaint(palette, lines).map((line) => line[cell]),
      [palette.page, colour, colour, colour],
    );
});
