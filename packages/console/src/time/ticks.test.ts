import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { formatSecond } from "./format-time.ts";
import { ticksOf } from "./ticks.ts";

const ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata"];
const YEAR = 365 * 86_400_000;

test("there are never more marks than fit, all in sight, in order, with no two alike beside each other", () => {
  const axes = fc.record({
    fromMs: fc.integer({ min: 0, max: 60 * YEAR }),
    spanMs: fc.integer({ min: 20, max: 40 * YEAR }),
    most: fc.integer({ min: 2, max: 20 }),
    zone: fc.constantFrom(...ZONES),
  });
  fc.assert(
    fc.property(axes, ({ fromMs, spanMs, most, zone }) => {
      const ticks = ticksOf({ fromMs, toMs: fromMs + spanMs, most, zone });
      assert.ok(ticks.length <= most + 2, `${ticks.length} of ${most}`);
      for (const [at, { ms, text }] of ticks.entries()) {
        assert.ok(ms >= fromMs && ms <= fromMs + spanMs);
        if (at > 0) assert.ok(ms > ticks[at - 1]!.ms && text !== ticks[at - 1]!.text, text);
      }
    }),
  );
});

test("days begin at the zone's midnight, also where its clocks change", () => {
  const [fromMs, toMs] = [Date.UTC(2026, 2, 27), Date.UTC(2026, 3, 1)];
  const ticks = ticksOf({ fromMs, toMs, most: 6, zone: "Europe/Berlin" });
  assert.deepEqual(
    ticks.map(({ ms }) => formatSecond(BigInt(ms) * 1_000_000n, "Europe/Berlin").slice(8)),
    ["28 00:00:00", "29 00:00:00", "30 00:00:00", "31 00:00:00", "01 00:00:00"],
  );
});

test("a year has months, a day has hours, a second has its parts", () => {
  const texts = (fromMs: number, spanMs: number) =>
    ticksOf({ fromMs, toMs: fromMs + spanMs, most: 12, zone: "UTC" }).map(({ text }) => text);
  const start = Date.UTC(2026, 0, 1);
  assert.deepEqual(texts(start, YEAR - 1).slice(0, 3), ["2026", "Feb", "Mar"]);
  assert.deepEqual(texts(start, 86_400_000).slice(0, 3), ["1 Jan", "02:00", "04:00"]);
  assert.deepEqual(texts(start, 1000).slice(1, 3), ["00:00:00.100", "00:00:00.200"]);
});
