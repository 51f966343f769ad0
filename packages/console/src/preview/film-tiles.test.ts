import assert from "node:assert/strict";
import { test } from "node:test";
import { coverTile, paintTiles, tilesOf } from "./film-tiles.ts";

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

test("a picture is painted only in the part of its time, one that cannot be read leaves its part empty, and all are given back", async () => {
  const tiles = tilesOf({ startNs: 0n, endNs: 40n }, 4 * 68);
  const closed: bigint[] = [];
  const painted: [bigint, bigint][] = [];
  const gone = new AbortController();
  const times = new Map([
    [10n, 9n],
    [20n, 9n],
    [40n, 35n],
  ]);
  const paint = () =>
    paintTiles(tiles, {
      async pictureAt(endNs) {
        const timeNs = times.get(endNs);
        if (timeNs === undefined) throw new Error("it cannot be read");
        return { timeNs, bitmap: { timeNs, close: () => closed.push(timeNs) } };
      },
      draw: ({ timeNs }, { endNs }) => painted.push([timeNs, endNs]),
      signal: gone.signal,
    });
  await paint();
  assert.deepEqual(painted, [
    [9n, 10n],
    [35n, 40n],
  ]);
  assert.deepEqual(closed, [9n, 9n, 35n]);
  gone.abort();
  await paint();
  assert.deepEqual([painted.length, closed.length], [2, 4]);
});
