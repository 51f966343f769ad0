import assert from "node:assert/strict";
import { test } from "node:test";
import { heldUntilNs, nextAttemptNs, RETRIES } from "./next-attempt.ts";

const SECOND_NS = 1_000_000_000n;
const nowNs = 1_800_000_000n * SECOND_NS;
const secondsLater = (retriesLeft: number, { held = 0n, random = 0 } = {}) => {
  const atNs = nextAttemptNs({ retriesLeft, nowNs, heldUntilNs: held, random });
  return atNs === undefined ? undefined : Number((atNs - nowNs) / SECOND_NS);
};

test("five attempts follow, after about 10 s, 1 min, 10 min, 1 h and 6 h, and no sixth", () => {
  const schedule = Array.from({ length: RETRIES + 1 }, (_, done) => secondsLater(RETRIES - done));
  assert.deepEqual(schedule, [10, 60, 600, 3600, 21_600, undefined]);
  assert.equal(secondsLater(RETRIES, { random: 0.99 }), 11);
});

test("none is made before the receiver wants it, and a shorter wait changes nothing", () => {
  assert.equal(secondsLater(RETRIES, { held: nowNs + 500n * SECOND_NS }), 500);
  assert.equal(secondsLater(RETRIES, { held: nowNs + 5n * SECOND_NS }), 10);
});

test("Retry-After is a number of seconds or a date, and anything else says nothing", () => {
  const waits = (text: string | undefined) => {
    const untilNs = heldUntilNs(text, nowNs);
    return untilNs === 0n ? 0 : Number((untilNs - nowNs) / SECOND_NS);
  };
  assert.equal(waits("120"), 120);
  assert.equal(waits(" 0 "), 0);
  assert.equal(waits(new Date(Number(nowNs / 1_000_000n) + 90_000).toUTCString()), 90);
  assert.equal(waits("99999999999"), 30 * 86_400);
  for (const text of [undefined, "", "soon", "-5", "1e9999", "Thu, 01 Jan 1970 00:00:00 GMT", "9".repeat(400)])
    assert.equal(waits(text), 0, text);
});
