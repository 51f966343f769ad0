import assert from "node:assert/strict";
import { test } from "node:test";
import { createStoppedClock } from "../testing/test-clock.ts";
import { createDiskForecast } from "./disk-forecast.ts";

function forecastOf(freeGigabytes: readonly number[]): number | undefined {
  const clock = createStoppedClock();
  const forecast = createDiskForecast(clock);
  for (const gigabytes of freeGigabytes) {
    forecast.note(gigabytes * 1e9);
    clock.atMs += 300_000;
  }
  return forecast.secondsUntilFull();
}

test("the disk is full when the free space is used up at the pace of the last hour", () => {
  assert.equal(forecastOf([40, 39, 38, 37]), 37 * 300);
  const slower = [...Array(20).fill(100), ...Array.from({ length: 13 }, (_, index) => 50 - index)];
  assert.equal(forecastOf(slower), 38 * 300);
});

test("there is no forecast from a few minutes, nor while free space does not shrink", () => {
  assert.equal(forecastOf([40, 30]), undefined);
  assert.equal(forecastOf([40, 40, 40, 40]), undefined);
  assert.equal(forecastOf([40, 41, 42, 43]), undefined);
});
