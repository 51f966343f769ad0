import assert from "node:assert/strict";
import { test } from "node:test";
import type { KnownPause } from "../state/known-facts.ts";
import { createUploadPause } from "./upload-pause.ts";

const HOUR = 3_600_000;

/** Makes a machine whose clocks the test sets, and the facts that its agent keeps. */
function makeMachine() {
  const machine = { wallMs: Date.parse("2026-01-02T03:00:00Z"), uptimeMs: 1000, bootId: "boot-1" };
  let kept: string | undefined;
  const facts = {
    pause: () => (kept === undefined ? undefined : (JSON.parse(kept) as KnownPause)),
    notePause: (pause: KnownPause | undefined) => {
      kept = pause && JSON.stringify(pause);
    },
  };
  const clock = {
    nowNs: () => BigInt(machine.wallMs) * 1_000_000n,
    uptimeMs: () => machine.uptimeMs,
    monotonicMs: () => machine.uptimeMs,
    random: () => 0,
  };
  const start = () => createUploadPause({ facts, clock, bootId: machine.bootId });
  const pass = (ms: number) => {
    machine.wallMs += ms;
    machine.uptimeMs += ms;
  };
  const reboot = (wallMs: number) => Object.assign(machine, { wallMs, uptimeMs: 500, bootId: `${machine.bootId}+` });
  return { machine, start, pass, reboot };
}

test("a pause for a while ends after it, whatever the clock is set to meanwhile, and over restarts of the agent", () => {
  const { machine, start, pass } = makeMachine();
  start().begin({ by: "ann", forMs: 2 * HOUR });
  machine.wallMs += 365 * 24 * HOUR;
  assert.equal(start().current()?.by, "ann");
  machine.wallMs -= 2 * 365 * 24 * HOUR;
  pass(2 * HOUR - 1);
  const pause = start();
  assert.equal(pause.msLeft(), 1);
  pass(1);
  assert.deepEqual([pause.current(), pause.msLeft(), start().current()], [undefined, undefined, undefined]);
  assert.equal(pause.end(), false);
});

test("over a restart of the machine the wall clock counts, but a wrong one makes no pause longer than it was at first", () => {
  const { machine, start, pass, reboot } = makeMachine();
  start().begin({ by: "ann", forMs: 2 * HOUR });
  reboot(machine.wallMs + HOUR);
  assert.equal(start().msLeft(), HOUR);
  reboot(0); // Without a battery, the clock starts in 1970.
  const pause = start();
  assert.equal(pause.msLeft(), 2 * HOUR);
  machine.wallMs = Date.parse("2026-01-02T04:00:00Z"); // The network sets the clock.
  assert.equal(start().msLeft(), 2 * HOUR);
  pass(2 * HOUR);
  assert.equal(pause.current(), undefined);
});

test("a pause without an end lasts until somebody ends it; a later one replaces an earlier one", () => {
  const { machine, start, pass, reboot } = makeMachine();
  start().begin({ by: "ann", forMs: HOUR });
  start().begin({ by: "bob", forMs: undefined });
  pass(1000 * HOUR);
  reboot(machine.wallMs);
  const pause = start();
  assert.deepEqual(pause.current(), { by: "bob", since: "2026-01-02T03:00:00Z", until: undefined });
  assert.equal(pause.msLeft(), undefined);
  assert.deepEqual([pause.end(), pause.end(), start().current()], [true, false, undefined]);
});
