import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  binMsOf,
  childrenOf,
  levelFor,
  MIN_LEVEL,
  nameOf,
  parentOf,
  startMsOf,
  startNsOf,
  TILE_BINS,
  TILE_ROWS,
  type TileKey,
  tilesFor,
} from "./tiles.ts";
import { msAt, panBy, toView, type View } from "./view.ts";

const windows = fc
  .record({
    startNs: fc.bigInt({ min: -(10n ** 18n), max: 4n * 10n ** 18n }),
    lengthNs: fc.bigInt({ min: 10n ** 9n, max: 3n * 10n ** 17n }),
    widthPx: fc.integer({ min: 100, max: 4000 }),
    firstRow: fc.integer({ min: 0, max: 3000 }),
    rows: fc.integer({ min: 1, max: 200 }),
  })
  .map(({ startNs, lengthNs, widthPx, firstRow, rows }) => ({
    view: toView({ startNs, endNs: startNs + lengthNs }),
    widthPx,
    firstRow,
    endRow: firstRow + rows,
  }));

function endMsOf(tile: TileKey, view: View): number {
  return startMsOf({ ...tile, index: tile.index + 1 }, view);
}

test("tiles cover every row and time of the window, once, and none lies beside it", () => {
  fc.assert(
    fc.property(windows, fc.double({ min: 0, max: 0.999999, noNaN: true }), (window, share) => {
      const { view, firstRow, endRow } = window;
      const tiles = tilesFor(window);
      assert.equal(new Set(tiles.map(nameOf)).size, tiles.length);
      const ms = msAt(view, share);
      for (const row of [firstRow, endRow - 1]) {
        const covering = tiles.filter((tile) => {
          const isThen = startMsOf(tile, view) <= ms && ms < endMsOf(tile, view);
          return isThen && Math.floor(row / TILE_ROWS) === tile.block;
        });
        assert.equal(covering.length, 1);
      }
      for (const tile of tiles) {
        assert.ok(startMsOf(tile, view) < view.fromMs + view.spanMs && endMsOf(tile, view) > view.fromMs);
        assert.ok(tile.block * TILE_ROWS < endRow && (tile.block + 1) * TILE_ROWS > firstRow);
      }
    }),
  );
});

test("a bin is at most a pixel wide and more than half a one, so that a screen needs few tiles", () => {
  fc.assert(
    fc.property(windows, (window) => {
      const pixelMs = window.view.spanMs / window.widthPx;
      const level = levelFor(pixelMs);
      if (level > MIN_LEVEL) assert.ok(binMsOf(level) <= pixelMs && binMsOf(level) * 2 > pixelMs * 0.999999);
      const blocks = Math.ceil(window.endRow / TILE_ROWS) - Math.floor(window.firstRow / TILE_ROWS);
      assert.ok(tilesFor(window).length <= blocks * (Math.ceil((2 * window.widthPx) / TILE_BINS) + 1));
    }),
  );
});

test("panning keeps the tiles that stay in sight and asks only for those that come into it", () => {
  fc.assert(
    fc.property(windows, fc.double({ min: -0.2, max: 0.2, noNaN: true }), (window, share) => {
      const before = tilesFor(window);
      const known = new Set(before.map(nameOf));
      const panned = panBy(window.view, share);
      const asked = tilesFor({ ...window, view: panned }).filter((tile) => !known.has(nameOf(tile)));
      const { fromMs, spanMs } = window.view;
      for (const tile of asked) {
        assert.ok(startMsOf(tile, panned) >= fromMs + spanMs || endMsOf(tile, panned) <= fromMs);
      }
    }),
  );
});

test("a tile is one half of its parent, also before 1970", () => {
  const keys = fc.record({
    level: fc.integer({ min: 21, max: 45 }),
    index: fc.integer({ min: -1000, max: 1000 }),
    block: fc.nat(10),
  });
  fc.assert(
    fc.property(keys, (key) => {
      assert.ok(childrenOf(parentOf(key)!).some((child) => nameOf(child) === nameOf(key)));
      const [first, second] = childrenOf(key);
      assert.equal(startNsOf(first!), startNsOf(key));
      assert.equal(startNsOf(second!) * 2n, startNsOf(key) + startNsOf({ ...key, index: key.index + 1 }));
    }),
  );
});
