import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { bits, fillColumns } from "./paint-row.ts";
import { planStrips } from "./strips.ts";
import { binMsOf, childrenOf, nameOf, parentOf, startMsOf, TILE_BINS, type TileKey, tilesFor } from "./tiles.ts";
import { toView } from "./view.ts";

const windows = fc
  .record({
    startNs: fc.bigInt({ min: 10n ** 17n, max: 2n * 10n ** 18n }),
    lengthNs: fc.bigInt({ min: 10n ** 12n, max: 3n * 10n ** 16n }),
    widthPx: fc.integer({ min: 50, max: 3000 }),
  })
  .map(({ startNs, lengthNs, widthPx }) => {
    return { view: toView({ startNs, endNs: startNs + lengthNs }), widthPx, firstRow: 0, endRow: 1 };
  });

/** Paints one row from tiles that hold the same thing in each cell. */
function columnsOf(
  window: Parameters<typeof planStrips>[0],
  best: Parameters<typeof planStrips<number>>[1],
): Uint8Array {
  const columns = new Uint8Array(window.widthPx).fill(bits.unasked);
  const scale = { fromMs: window.view.fromMs, pixelMs: window.view.spanMs / window.widthPx };
  for (const { tile, ...strip } of planStrips(window, best))
    fillColumns(columns, { ...strip, cells: new Uint8Array(TILE_BINS).fill(tile) }, scale);
  return columns;
}

test("with all tiles here, or all wider ones, or all narrower ones, no column is left over", () => {
  fc.assert(
    fc.property(windows, (window) => {
      for (const stands of [
        (key: TileKey) => [key],
        (key: TileKey) => [parentOf(parentOf(key)!)!],
        (key: TileKey) => childrenOf(key),
      ]) {
        const columns = columnsOf(window, (key) => stands(key).map((at) => ({ key: at, tile: bits.imported })));
        assert.ok(columns.every((cell) => cell === bits.imported));
      }
    }),
  );
});

test("a tile that is not here leaves its own columns and no others, and a column between two tiles has both", () => {
  fc.assert(
    fc.property(windows, fc.nat(10), (window, which) => {
      const tiles = tilesFor(window);
      const absent = tiles[which % tiles.length]!;
      const columns = columnsOf(window, (key) =>
        nameOf(key) === nameOf(absent) ? [] : [{ key, tile: key.index % 2 === 0 ? bits.imported : bits.failed }],
      );
      const { fromMs, spanMs } = window.view;
      for (const [px, cell] of columns.entries()) {
        const [left, right] = [px, px + 1].map((at) => fromMs + (spanMs * at) / window.widthPx);
        const startMs = startMsOf(absent, window.view);
        const isInside = startMs <= left! && right! <= startMs + binMsOf(absent.level) * TILE_BINS;
        const isOutside = startMs >= right! || left! >= startMs + binMsOf(absent.level) * TILE_BINS;
        if (isOutside) assert.ok(cell !== bits.unasked, `column ${px}`);
        if (cell === bits.unasked) assert.ok(isInside, `column ${px} is not of the absent tile alone`);
      }
    }),
  );
});
