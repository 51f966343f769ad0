import assert from "node:assert/strict";
import { test } from "node:test";
import { correctedNs, noteInstant } from "./instant.ts";

const SECOND_NS = 1_000_000_000n;

test("an instant keeps its age when the clock is set, in both directions, and does not flicker while it is not", () => {
  const at = { uptimeMs: 5000, wallNs: 63_072_000n * SECOND_NS + 123n }; // 1972
  const clock = { uptimeMs: () => at.uptimeMs, nowNs: () => at.wallNs };
  const instant = noteInstant(clock);
  at.uptimeMs += 60_004;
  at.wallNs += 60n * SECOND_NS;
  assert.equal(correctedNs(instant, clock), instant.shownNs);
  for (const setToNs of [1_800_000_000n * SECOND_NS, 0n]) {
    at.wallNs = setToNs;
    const ageMs = Number(at.wallNs - correctedNs(instant, clock)) / 1e6;
    assert.ok(Math.abs(ageMs - 60_004) <= 501, `${ageMs} ms`);
  }
});
