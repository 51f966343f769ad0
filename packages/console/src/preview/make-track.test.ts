import assert from "node:assert/strict";
import { test } from "node:test";
import { makeTrack, scaleBarMetres } from "./make-track.ts";

test("a way is measured in metres, also across the meridian where longitudes start over", () => {
  const degree = { timeNs: 0, latitude: 0 };
  const over = makeTrack([
    { ...degree, longitude: 179.9995 },
    { ...degree, longitude: -179.9995 },
  ]);
  assert.ok(Math.abs(over.lengthMetres - 111.195) < 0.01, `${over.lengthMetres}`);
  const north = makeTrack([
    { timeNs: 0, latitude: 60, longitude: 10 },
    { timeNs: 1, latitude: 60, longitude: 10.001 },
  ]);
  assert.ok(Math.abs(north.lengthMetres - 55.6) < 0.01, `${north.lengthMetres}`);
  assert.deepEqual(makeTrack([]).lines, []);
});

test("a time without positions breaks the line and adds no way", () => {
  const fixes = [0, 1, 9, 10].map((timeNs) => ({ timeNs, latitude: timeNs / 1000, longitude: 0 }));
  const track = makeTrack(fixes, [{ startNs: 1, endNs: 9 }]);
  assert.deepEqual(
    track.lines.map((line) => line.map(({ timeNs }) => timeNs)),
    [
      [0, 1],
      [9, 10],
    ],
  );
  assert.ok(Math.abs(track.lengthMetres - 222.39) < 0.01);
});

test("a long way is thinned to what a screen can show, with its ends", () => {
  const fixes = Array.from({ length: 100_001 }, (_, timeNs) => ({ timeNs, latitude: timeNs / 1e6, longitude: 0 }));
  const [line] = makeTrack(fixes).lines;
  assert.ok(line!.length <= 2001);
  assert.deepEqual([line![0]!.timeNs, line!.at(-1)!.timeNs], [0, 100_000]);
});

test("a scale bar is a round length of about a quarter", () => {
  assert.deepEqual([4, 10, 79, 81, 1000, 0].map(scaleBarMetres), [1, 2, 10, 20, 200, 0.0002]);
});
