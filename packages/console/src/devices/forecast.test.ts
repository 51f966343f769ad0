import assert from "node:assert/strict";
import { test } from "node:test";
import { curvePath } from "./curve.ts";
import { forecastDisk } from "./forecast.ts";

const NOW_MS = Date.UTC(2026, 3, 14, 12);
const HOUR_MS = 3_600_000;
const at = (ms: number) => BigInt(ms) * 1_000_000n;

/** Makes points of the free space at each hour of the last day. */
function points(freeAt: (hoursAgo: number) => number | undefined) {
  return Array.from({ length: 25 }, (_, index) => ({
    at: at(NOW_MS - (24 - index) * HOUR_MS),
    freeBytes: freeAt(24 - index),
  }));
}

test("a disk that loses ten gigabytes an hour with a hundred left is full in ten hours", () => {
  const forecast = forecastDisk(
    points((hoursAgo) => 100e9 + hoursAgo * 10e9),
    NOW_MS,
  );
  assert.ok(forecast.kind === "full");
  assert.ok(Math.abs(forecast.atMs - (NOW_MS + 10 * HOUR_MS)) < 1000);
  assert.equal(Math.round(forecast.bytesPerDay / 1e9), 240);
});

test("a disk that fills and is emptied again, or that is full in a year, is called steady", () => {
  assert.equal(
    forecastDisk(
      points(() => 5e9),
      NOW_MS,
    ).kind,
    "steady",
  );
  assert.equal(
    forecastDisk(
      points((hoursAgo) => 5e9 - hoursAgo),
      NOW_MS,
    ).kind,
    "steady",
  );
  assert.equal(
    forecastDisk(
      points((hoursAgo) => 1e12 + hoursAgo * 1e6),
      NOW_MS,
    ).kind,
    "steady",
  );
});

test("from too little nothing is foretold", () => {
  assert.equal(forecastDisk([], NOW_MS).kind, "unknown");
  assert.equal(
    forecastDisk(
      points(() => undefined),
      NOW_MS,
    ).kind,
    "unknown",
  );
  assert.equal(forecastDisk(points((hoursAgo) => hoursAgo).slice(-5), NOW_MS).kind, "unknown");
  const same = { at: at(NOW_MS), freeBytes: 1 };
  assert.equal(forecastDisk([same, same, same], NOW_MS).kind, "unknown");
});

test("a line is broken where the device was silent, and stays in its frame", () => {
  const frame = { fromMs: 0, toMs: 1_200_000, highest: 10, width: 120, height: 20 };
  const curve = [
    { atMs: 0, value: 10 },
    { atMs: 300_000, value: 5 },
    { atMs: 1_200_000 + 100_000, value: 0 },
  ];
  assert.equal(curvePath(curve, { ...frame, toMs: 1_300_000 }), "M0.0 0.0L27.7 10.0M120.0 20.0");
  assert.equal(curvePath([{ atMs: 0, value: 0 }], { ...frame, highest: 0 }), "M0.0 20.0");
});
