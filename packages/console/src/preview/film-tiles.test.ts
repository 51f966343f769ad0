import assert from "node:assert/strict";
import { test } from "node:test";
import { coverTile, tilesOf } from "./film-tiles.ts";

test("tiles fill the film and the window without a gap in time", () => {
  const tiles = tilesOf({ startNs: 10n, endNs: 110n }, 700);
  assert.equal(tiles.length, 10);
  assert.deepEqual([tiles[0]!.startNs, tiles.at(-1)!.endNs], [10n, 110n]);
  for (const [place, { startNs, leftPx }] of tiles.entries()) {
    assert.equal(startNs, tiles[place - 1]?.endNs ?? 10n);
    assert.equal(leftPx, 70 * place);
  }
  assert.deepEqual(tilesOf({ startNs: 0n, endNs: 5n }, 20), []);
});

test("a tile shows the middle of a picture, and never more than there is", () => {
  assert.deepEqual(coverTile({ width: 400, height: 100 }, { width: 20, height: 10 }), {
    ...{ x: 100, y: 0, width: 200, height: 100 },
  });
  assert.deepEqual(coverTile({ width: 100, height: 400 }, { width: 20, height: 10 }), {
    ...{ x: 0, y: 175, width: 100, height: 50 },
  });
});
