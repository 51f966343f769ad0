import assert from "node:assert/strict";
import { test } from "node:test";
import { FIRST_TIME_NS, LAST_TIME_NS } from "@downlink/protocol";
import fc from "fast-check";
import {
  fromNs,
  MAX_SPAN_MS,
  MIN_SPAN_MS,
  msAt,
  panBy,
  reveal,
  shareOf,
  snapNs,
  toNs,
  toSpan,
  toView,
  zoomAbout,
} from "./view.ts";

const YEAR_NS = 31_536_000_000_000_000n;
const times = fc.bigInt({ min: 0n, max: 80n * YEAR_NS });
const spans = fc
  .tuple(times, fc.bigInt({ min: 1_000_000n, max: 20n * YEAR_NS }))
  .map(([startNs, lengthNs]) => ({ startNs, endNs: startNs + lengthNs }));
const shares = fc.double({ min: 0, max: 1, noNaN: true });
const factors = fc.double({ min: 0.01, max: 100, noNaN: true });

function isNear(actual: number, expected: number, within: number) {
  assert.ok(Math.abs(actual - expected) <= within, `${actual} is not within ${within} of ${expected}`);
}

test("what is shown is the span that was asked for, to the nanosecond at its start and to a billionth at its end", () => {
  fc.assert(
    fc.property(spans, (span) => {
      const again = toSpan(toView(span));
      assert.equal(again.startNs, span.startNs);
      isNear(Number(again.endNs - span.endNs), 0, 1 + Number(span.endNs - span.startNs) / 1e9);
    }),
  );
});

test("a time near the origin is counted to the nanosecond, which a number of nanoseconds since 1970 is not", () => {
  const view = { originNs: 1_760_000_000_000_000_000n };
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n }), (ns) => {
      assert.equal(toNs(view, fromNs(view, view.originNs + ns)), view.originNs + ns);
    }),
  );
  assert.notEqual(BigInt(Number(1_760_000_000_000_000_001n)), 1_760_000_000_000_000_001n);
});

test("zooming keeps the time at the pointer where it is, and stays within the limits", () => {
  fc.assert(
    fc.property(spans, factors, shares, (span, factor, share) => {
      const view = toView(span);
      const zoomed = zoomAbout(view, factor, share);
      isNear(shareOf(zoomed, msAt(view, share)), share, 1e-6);
      assert.ok(zoomed.spanMs >= MIN_SPAN_MS && zoomed.spanMs <= MAX_SPAN_MS);
    }),
  );
});

test("panning there and back changes nothing, and never leads out of the times that there are", () => {
  fc.assert(
    fc.property(spans, shares, (span, share) => {
      const view = toView(span);
      const back = panBy(panBy(view, share), -share);
      isNear(back.fromMs, view.fromMs, view.spanMs * 1e-9);
    }),
  );
  const view = toView({ startNs: 0n, endNs: YEAR_NS });
  assert.ok(toSpan(panBy(view, 1e6)).endNs <= LAST_TIME_NS);
  assert.ok(toSpan(panBy(view, -1e6)).startNs >= FIRST_TIME_NS);
  isNear(panBy(view, 1e6).spanMs, view.spanMs, 1);
});

test("a time that is out of sight is shown, and one in sight moves nothing", () => {
  fc.assert(
    fc.property(spans, fc.double({ min: -5, max: 5, noNaN: true }), (span, share) => {
      const view = toView(span);
      const ms = msAt(view, share);
      const shown = reveal(view, ms);
      if (share >= 0 && share <= 1) assert.equal(shown, view);
      isNear(shareOf(shown, ms), 0.5, 0.5 + 1e-9);
    }),
  );
});

test("a time that was drawn by hand moves by less than a pixel, to one with few digits", () => {
  fc.assert(
    fc.property(times, fc.double({ min: 0.001, max: 1e8, noNaN: true }), (timeNs, pixelMs) => {
      const moved = Number(snapNs(timeNs, pixelMs) - timeNs);
      assert.ok(Math.abs(moved) <= Math.max(1, (pixelMs * 1e6) / 2));
    }),
  );
  assert.equal(snapNs(1_760_000_000_123_456_789n, 1500), 1_760_000_000_000_000_000n);
  assert.equal(snapNs(-1_600_000_000n, 1000), -2_000_000_000n);
});
