import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { TooHeavyError } from "./indexing-errors.ts";
import { watch } from "./watchdog.ts";

const limits = { tickMs: 1000, silentMs: 60_000, computeMs: 100_000, computeMsPerGigabyte: 50_000, readMs: 30_000 };

function start(t: TestContext, sizeBytes = 0) {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const faults: Error[] = [];
  const watchdog = watch({ sizeBytes, limits, onExpired: (error) => faults.push(error) });
  const pass = (seconds: number) => t.mock.timers.tick(seconds * 1000);
  return { watchdog, faults, pass };
}

test("a thread that requests nothing is ended after the time it may be silent", (t) => {
  const { faults, pass } = start(t);
  pass(59);
  assert.equal(faults.length, 0);
  pass(1000);
  assert.equal(faults.length, 1);
  assert(faults[0] instanceof TooHeavyError);
});

test("a thread that goes on requesting is ended after the total time that its file's size allows", (t) => {
  const { watchdog, faults, pass } = start(t, 2e9);
  for (let computed = 0; computed < 190; computed += 10) {
    pass(10);
    watchdog.asked();
    pass(20);
    watchdog.answered();
  }
  assert.equal(faults.length, 0, "waiting for the store is not computing");
  pass(10);
  assert(faults[0] instanceof TooHeavyError);
});

test("a store that leaves a read unanswered is at fault, not the file, but not while it answers other reads", (t) => {
  const { watchdog, faults, pass } = start(t);
  watchdog.asked();
  watchdog.asked();
  pass(29);
  watchdog.answered();
  pass(29);
  assert.equal(faults.length, 0);
  pass(1);
  assert(!(faults[0] instanceof TooHeavyError));
  assert.match(faults[0]!.message, /the store left a read unanswered/);
});

test("a thread that waits for memory is not at fault, however long that takes", (t) => {
  const { watchdog, faults, pass } = start(t);
  watchdog.asked();
  watchdog.paused();
  pass(1000);
  assert.equal(faults.length, 0);
  watchdog.resumed();
  watchdog.answered();
  pass(59);
  assert.equal(faults.length, 0);
  pass(1);
  assert(faults[0] instanceof TooHeavyError);
});

test("nothing expires once the file is done", (t) => {
  const { watchdog, faults, pass } = start(t);
  watchdog[Symbol.dispose]();
  pass(1000);
  assert.equal(faults.length, 0);
});
