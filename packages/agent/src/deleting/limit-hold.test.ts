import assert from "node:assert/strict";
import { test } from "node:test";
import type { KnownLimits } from "../state/known-facts.ts";
import { createLimitHold, type LimitDemand } from "./limit-hold.ts";
import type { Quota } from "./quota.ts";

const MINUTE = 60_000;
const GB = 1e9;
const asks: LimitDemand = { neededBytes: GB, hasFiles: true };
const asksNothing: LimitDemand = { neededBytes: 0, hasFiles: false };

function limit(gigabytes: number | undefined, others: Partial<Quota> = {}): Quota {
  const maxDisk = gigabytes === undefined ? undefined : { bytes: gigabytes * GB };
  return { maxDisk, minFree: undefined, prunesUnimported: false, ...others };
}

/** Makes a machine whose clocks the test sets, and the facts that its agent keeps. */
function makeMachine(formerLimits?: Quota) {
  const machine = { wallMs: Date.parse("2026-01-02T03:00:00Z"), uptimeMs: 1000, bootId: "boot-1" };
  let kept: string | undefined;
  const facts = {
    limits: () => (kept === undefined ? undefined : (JSON.parse(kept) as KnownLimits)),
    noteLimits: (limits: KnownLimits) => {
      kept = JSON.stringify(limits);
    },
  };
  const clock = { nowNs: () => BigInt(machine.wallMs) * 1_000_000n, uptimeMs: () => machine.uptimeMs };
  const start = () => createLimitHold({ facts, clock, bootId: machine.bootId, formerLimits });
  const pass = (ms: number) => {
    machine.wallMs += ms;
    machine.uptimeMs += ms;
  };
  const reboot = (wallMs: number) => Object.assign(machine, { wallMs, uptimeMs: 500, bootId: `${machine.bootId}+` });
  return { machine, start, pass, reboot };
}

test("a new limit that asks for deletions waits for ten minutes from its first plan, whatever the clock is set to, over restarts", () => {
  const { machine, start, pass, reboot } = makeMachine();
  const hold = start();
  hold.observe(limit(10), { neededBytes: GB, hasFiles: false });
  assert.equal(hold.msLeft(), undefined, "nothing can be shown yet");
  pass(MINUTE);
  hold.observe(limit(10), asks);
  assert.equal(hold.msLeft(), 10 * MINUTE);
  machine.wallMs += 365 * 24 * 60 * MINUTE;
  pass(4 * MINUTE);
  const second = start();
  second.observe(limit(10), asks);
  assert.equal(second.msLeft(), 6 * MINUTE);
  reboot(0); // Without a battery, the clock starts in 1970.
  const third = start();
  third.observe(limit(10), asks);
  assert.equal(third.msLeft(), 10 * MINUTE);
  pass(10 * MINUTE);
  third.observe(limit(10), asks);
  const fourth = start();
  fourth.observe(limit(10), asks);
  assert.deepEqual([third.msLeft(), fourth.msLeft()], [undefined, undefined]);
});

test("a confirmed limit waits no more, also over a restart; without a wait there is nothing to confirm", () => {
  const { start } = makeMachine();
  const hold = start();
  assert.equal(hold.confirm(), false);
  hold.observe(limit(10), asks);
  assert.equal(hold.confirm(), true);
  const again = start();
  for (const each of [hold, again]) each.observe(limit(10), asks);
  assert.deepEqual([hold.msLeft(), again.msLeft(), again.confirm()], [undefined, undefined, false]);
});

test("a limit that asks for nothing when it is set is in force, and never waits", () => {
  const { start } = makeMachine();
  const hold = start();
  hold.observe(limit(10), { neededBytes: undefined, hasFiles: false });
  hold.observe(limit(10), asksNothing);
  hold.observe(limit(10), asks);
  assert.equal(hold.msLeft(), undefined);
});

test("an agent that deleted for its limits before it kept note of them does not wait for the same ones", () => {
  const hold = makeMachine(limit(10)).start();
  hold.observe(limit(10), asks);
  assert.equal(hold.msLeft(), undefined);
  hold.observe(limit(9), asks);
  assert.equal(hold.msLeft(), 10 * MINUTE);
});

test("a limit that is made stricter waits; one that is made milder, or taken back, does not", () => {
  const tenPercent = { minFree: { percent: 10 } };
  const cases: [before: Quota, after: Quota, waits: boolean][] = [
    [limit(10), limit(9), true],
    [limit(10), limit(11), false],
    [limit(10), limit(undefined), false],
    [limit(undefined), limit(10), true],
    [limit(10), limit(undefined, tenPercent), true],
    [limit(undefined, tenPercent), limit(undefined, { minFree: { percent: 11 } }), true],
    [limit(undefined, tenPercent), limit(undefined, { minFree: { percent: 9 } }), false],
    [limit(undefined, tenPercent), limit(undefined, { minFree: { bytes: 1 } }), true],
    [limit(10), limit(10, { prunesUnimported: true }), true],
    [limit(10, { prunesUnimported: true }), limit(10), false],
  ];
  for (const [before, after, waits] of cases) {
    const hold = makeMachine().start();
    hold.observe(before, asksNothing);
    hold.observe(after, asks);
    assert.equal(hold.msLeft() !== undefined, waits, JSON.stringify([before, after]));
  }
});

test("a mistake that is taken back within the wait deletes nothing, and the former limit goes on at once", () => {
  const { start, pass } = makeMachine();
  const hold = start();
  hold.observe(limit(10), asksNothing);
  hold.observe(limit(1), asks);
  pass(9 * MINUTE);
  hold.observe(limit(10), asks);
  assert.equal(hold.msLeft(), undefined);
  hold.observe(limit(1), asks);
  assert.equal(hold.msLeft(), 10 * MINUTE, "the same mistake waits again");
  pass(MINUTE);
  hold.observe(limit(2), asks);
  assert.equal(hold.msLeft(), 9 * MINUTE, "a milder one goes on waiting");
  hold.observe(limit(1), asks);
  assert.equal(hold.msLeft(), 10 * MINUTE, "a stricter one waits from its own plan on");
});
