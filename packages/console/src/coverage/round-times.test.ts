import assert from "node:assert/strict";
import { test } from "node:test";
import { formatRounded, roundStep } from "./round-times.ts";

const MINUTE_MS = 60_000;
const at = (text: string) => BigInt(Date.parse(text)) * 1_000_000n;

test("a step is no finer than what is known", () => {
  assert.equal(roundStep(3), 1000);
  assert.equal(roundStep(43.2 * MINUTE_MS), 60 * MINUTE_MS); // a pixel of thirty days
  assert.equal(roundStep(1e15), 30 * 86_400_000);
});

test("a start is rounded down and an end up, and no digit is shown that is not known", () => {
  const timeNs = at("2026-11-30T13:24:47Z");
  const text = (stepMs: number, up: boolean) => formatRounded(timeNs, { stepMs, zone: "UTC", up });
  assert.deepEqual([text(60 * MINUTE_MS, false), text(60 * MINUTE_MS, true)], ["2026-11-30 13:00", "2026-11-30 14:00"]);
  assert.equal(text(1000, false), "2026-11-30 13:24:47");
  assert.deepEqual([text(86_400_000, false), text(86_400_000, true)], ["2026-11-30", "2026-12-01"]);
});
