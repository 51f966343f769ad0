import assert from "node:assert/strict";
import { test } from "node:test";
import { parseTimestamp } from "@downlink/protocol";
import { closeSpan, fitOf, hasWrongClock } from "./span.ts";

const at = (text: string) => parseTimestamp(text)!;
const usual = { start: at("2026-01-01T00:00:00Z"), end: at("2026-06-01T00:00:00Z") };

test("a recording of 1970 widens nothing, is named, and still nothing is shown where there is nothing", () => {
  const odd = { all: { start: 5n, end: usual.end }, usual };
  assert.ok(hasWrongClock(odd) && !hasWrongClock({ all: usual, usual }) && !hasWrongClock({}));
  const fit = fitOf(odd, undefined)!;
  assert.ok(fit.startNs < usual.start && fit.startNs > at("2025-12-01T00:00:00Z") && fit.endNs > usual.end);
  assert.equal(fitOf({}, undefined), undefined);
});

test("among few recordings the one of 1970 is usual to the service, and Fit begins with the first after it", () => {
  const few = { all: { start: 5n, end: usual.end }, usual: { start: 5n, end: usual.end } };
  assert.ok(fitOf(few, usual.start)!.startNs > at("2025-12-01T00:00:00Z"));
  assert.ok(fitOf(few, undefined)!.startNs < 5n);
  assert.ok(hasWrongClock(few));
});

test("there is always some time to show", () => {
  const now = at("2026-04-14T12:00:00Z");
  for (const given of [
    { startNs: undefined, endNs: undefined },
    { startNs: now + 5n, endNs: undefined },
    { startNs: undefined, endNs: 3n },
    { startNs: 7n, endNs: 7n },
    { startNs: 9n, endNs: 7n },
  ]) {
    const span = closeSpan(given, now);
    assert.ok(span.endNs > span.startNs);
  }
  assert.deepEqual(closeSpan({ startNs: 1n, endNs: undefined }, now), { startNs: 1n, endNs: now });
});
