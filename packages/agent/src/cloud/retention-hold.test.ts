import assert from "node:assert/strict";
import { test } from "node:test";
import type { KnownRetention, KnownServerTime } from "../state/known-facts.ts";
import { createRetentionHold } from "./retention-hold.ts";
import { createServerClock } from "./server-clock.ts";
import { createServerTimeMemory } from "./server-time-memory.ts";

const HOUR = 3_600_000_000_000n;
const startNs = 1_800_000_000n * 1_000_000_000n;

/** A device whose clocks the test moves. */
function makeScene() {
  let uptimeMs = 5000;
  let stored: KnownRetention | undefined;
  let serverTime: KnownServerTime | undefined;
  const facts = {
    serverTime: () => serverTime,
    noteServerTime: (known: KnownServerTime) => {
      serverTime = known;
    },
    retention: () => stored,
    noteRetention: (retention: KnownRetention) => {
      stored = retention;
    },
  };
  const restart = ({ bootId = "boot", aheadNs = 0n } = {}) => {
    const serverClock = createServerClock({ uptimeMs: () => uptimeMs }, createServerTimeMemory(facts, bootId));
    const hold = createRetentionHold(facts, serverClock);
    serverClock.note(startNs + BigInt(uptimeMs - 5000) * 1_000_000n + aheadNs);
    return { serverClock, hold };
  };
  const pass = (hours: number) => {
    uptimeMs += hours * 3_600_000;
  };
  return { ...restart(), restart, pass };
}

test("the first retention that is known holds nothing up, and neither does a longer one", () => {
  const { hold } = makeScene();
  hold.observe(3600);
  hold.observe(7200);
  hold.observe(0);
  assert.equal(hold.heldUntilNs(), undefined);
});

test("a shortened retention waits 24 hours, also over a restart; one that ends keeping for ever does too", () => {
  for (const before of [7200, 0]) {
    const { hold, restart, pass } = makeScene();
    hold.observe(before);
    hold.observe(3600);
    assert.equal(hold.heldUntilNs(), startNs + 24n * HOUR);
    pass(23);
    const again = restart().hold;
    again.observe(3600);
    assert.equal(again.heldUntilNs(), startNs + 24n * HOUR);
    pass(1);
    assert.equal(again.heldUntilNs(), undefined);
  }
});

test("a server clock that jumps by more than an hour, forward or back, makes retention wait 24 hours", () => {
  for (const jumpNs of [50_000n * HOUR, -2n * HOUR]) {
    const { serverClock, hold } = makeScene();
    hold.observe(3600);
    serverClock.note(startNs + jumpNs);
    hold.observe(3600);
    assert.equal(hold.heldUntilNs(), startNs + jumpNs + 24n * HOUR);
  }
});

test("a jump while no agent runs counts as well, unless the machine was off meanwhile: nobody knows for how long", () => {
  for (const [bootId, isHeld] of [
    ["boot", true],
    ["another", false],
  ] as const) {
    const { hold, restart } = makeScene();
    hold.observe(3600);
    const again = restart({ bootId, aheadNs: 50_000n * HOUR }).hold;
    again.observe(3600);
    assert.equal(again.heldUntilNs() !== undefined, isHeld, bootId);
  }
});

test("time that passes while the machine sleeps or is busy is no jump", () => {
  const { serverClock, hold, pass } = makeScene();
  hold.observe(3600);
  pass(100);
  serverClock.note(startNs + 100n * HOUR + HOUR / 2n);
  hold.observe(3600);
  assert.deepEqual([serverClock.jumps(), hold.heldUntilNs()], [0, undefined]);
});

test("a clock that was years ahead for a while holds retention up for a day after it was set right, not for years", () => {
  const { serverClock, hold, restart } = makeScene();
  hold.observe(3600);
  serverClock.note(startNs + 50_000n * HOUR);
  hold.observe(3600);
  const again = restart().hold;
  again.observe(3600);
  assert.equal(again.heldUntilNs(), startNs + 24n * HOUR);
});
