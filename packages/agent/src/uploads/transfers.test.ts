import assert from "node:assert/strict";
import { test } from "node:test";
import { createStoppedClock } from "../testing/test-clock.ts";
import { createTransferMeter } from "./transfers.ts";

const MB = 1_000_000;

function makeMeter() {
  const clock = createStoppedClock();
  const meter = createTransferMeter({ recordingId: "rec_1", path: "a.mcap", sizeBytes: 100 * MB }, clock);
  const wait = (seconds: number) => {
    clock.atMs += seconds * 1000;
  };
  return { meter, wait };
}

test("the rate is that of what was acknowledged, steady also where acknowledgements are seldom", () => {
  const { meter, wait } = makeMeter();
  assert.deepEqual([meter.snapshot().bytesPerSecond, meter.snapshot().secondsLeft], [0, undefined]);
  for (let part = 0; part < 4; part++) {
    wait(50);
    meter.add(5 * MB);
    assert.equal(meter.snapshot().bytesPerSecond, 100_000);
  }
  assert.deepEqual(
    [meter.snapshot().sentBytes, meter.snapshot().secondsLeft],
    [20 * MB, 800],
    "a fifth in 200 seconds",
  );
});

test("what moves quickly is shown at the rate of half a minute; what stands still goes down to nothing", () => {
  const { meter, wait } = makeMeter();
  for (let second = 0; second < 30; second++, wait(1)) meter.add(MB / 10);
  for (let second = 0; second < 30; second++, wait(1)) meter.add(MB);
  assert.ok(Math.abs(meter.snapshot().bytesPerSecond - MB) < MB / 10, String(meter.snapshot().bytesPerSecond));
  wait(600);
  assert.ok(meter.snapshot().bytesPerSecond < 10_000);
});

test("bytes that were there already are progress and no rate, and are taken back where they turn out to be missing", () => {
  const { meter, wait } = makeMeter();
  meter.skip(40 * MB);
  wait(10);
  assert.deepEqual([meter.snapshot().sentBytes, meter.snapshot().bytesPerSecond], [40 * MB, 0]);
  meter.skip(-10 * MB);
  assert.equal(meter.snapshot().sentBytes, 30 * MB);
});

test("while a large part is on its way, the rate is that of the bytes that move, and goes down to nothing where none do", () => {
  const { meter, wait } = makeMeter();
  for (let second = 0; second < 60; second++, wait(1)) meter.flow(MB);
  const moving = meter.snapshot();
  assert.ok(Math.abs(moving.bytesPerSecond - MB) < MB / 10, String(moving.bytesPerSecond));
  assert.deepEqual([moving.sentBytes, moving.secondsLeft !== undefined], [0, true], "nothing of it is durable yet");
  wait(31);
  assert.deepEqual([meter.snapshot().bytesPerSecond, meter.snapshot().secondsLeft], [0, undefined]);
  meter.flow(MB);
  meter.add(60 * MB);
  assert.equal(meter.snapshot().bytesPerSecond, Math.round((60 * MB) / 91), "what is acknowledged goes before");
});
