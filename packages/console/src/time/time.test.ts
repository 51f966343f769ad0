import assert from "node:assert/strict";
import { test } from "node:test";
import { parseTimestamp } from "@downlink/protocol";
import fc from "fast-check";
import { formatAge, formatBeside, formatDuration, formatExact, formatMinute, formatSecond } from "./format-time.ts";
import { isRelative, parseTime } from "./parse-time.ts";

const ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Pacific/Apia"];
const NOW = Date.UTC(2026, 3, 14, 12);
const at = (text: string) => parseTimestamp(text)!;
const read = (text: string, zone = "UTC") => parseTime(text, { zone, nowMs: NOW });

test("what is shown of a time is read back as the same second, in every zone and over each change of its clocks", () => {
  const seconds = fc.integer({ min: Date.UTC(1972, 0, 1) / 1000, max: Date.UTC(2037, 11, 31) / 1000 });
  fc.assert(
    fc.property(seconds, fc.constantFrom(...ZONES), (second, zone) => {
      const shown = formatSecond(BigInt(second) * 1_000_000_000n, zone);
      const again = read(shown, zone);
      assert.ok("timeNs" in again);
      assert.equal(formatSecond(again.timeNs, zone), shown);
    }),
  );
  assert.deepEqual(read("2026-03-29 02:30", "Europe/Berlin"), { timeNs: at("2026-03-29T01:30:00Z") });
  assert.deepEqual(read("2026-10-25 02:30", "Europe/Berlin"), { timeNs: at("2026-10-25T00:30:00Z") });
});

test("an exact time is read back to the nanosecond", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 62n), max: 2n ** 62n }), (timeNs) => {
      assert.deepEqual(read(formatExact(timeNs)), { timeNs });
    }),
  );
});

test("times are read as people write them", () => {
  for (const [text, wanted] of [
    ["2026-04-14", "2026-04-14T00:00:00Z"],
    ["2026-04-14 03:00", "2026-04-14T03:00:00Z"],
    ["2026-04-14 03:00:12.000000001", "2026-04-14T03:00:12.000000001Z"],
    ["2026-04-14T03:00:12+02:00", "2026-04-14T01:00:12Z"],
    ["1776135612", "2026-04-14T03:00:12Z"],
    ["1776135612.25", "2026-04-14T03:00:12.25Z"],
    ["1776135612000", "2026-04-14T03:00:12Z"],
    ["1776135612000001", "2026-04-14T03:00:12.000001Z"],
    ["1776135612000000001", "2026-04-14T03:00:12.000000001Z"],
    ["now", "2026-04-14T12:00:00Z"],
    ["now-7d", "2026-04-07T12:00:00Z"],
    ["Now - 90 min", "2026-04-14T10:30:00Z"],
  ] as const)
    assert.deepEqual(read(text), { timeNs: at(wanted) }, text);
  assert.ok(isRelative("now-7d") && !isRelative("2026-04-14"));
});

test("what is no time is named with what would be one", () => {
  for (const text of ["", "yesterday", "2026-02-30", "2026-04-14 25:00", "now-7x", "99999999999999999999", "2026"]) {
    const answer = read(text);
    assert.ok("problem" in answer && answer.problem.includes("now-7d"), text);
  }
});

test("durations and ages say what matters", () => {
  for (const [ns, text] of [
    [0n, "0 s"],
    [1n, "1 ns"],
    [1500n, "1.5 µs"],
    [20_000_000n, "20 ms"],
    [3_500_000_000n, "3.5 s"],
    [59_700_000_000n, "1 min"],
    [4_800_000_000_000n, "1 h 20 min"],
    [86_400_000_000_000n * 9n, "9 d"],
  ] as const)
    assert.equal(formatDuration(ns), text);
  assert.equal(formatAge(at("2026-04-05T12:00:00Z"), NOW), "9 days ago");
  assert.equal(formatAge(at("2026-04-28T13:00:00Z"), NOW), "in 2 weeks");
  assert.equal(formatAge(at("2026-04-14T12:00:01Z"), NOW), "now");
});

test("a time in a heading has its day as people say it", () => {
  assert.equal(formatMinute(at("2026-11-19T09:12:59Z"), "UTC"), "19 Nov 2026 09:12");
  assert.equal(formatMinute(at("2026-03-01T23:30:00Z"), "Europe/Berlin"), "2 Mar 2026 00:30");
  const [evening, night] = [at("2026-03-01T22:30:00Z"), at("2026-03-01T23:30:00Z")];
  assert.equal(formatBeside(evening, night, "UTC"), "22:30");
  assert.equal(formatBeside(evening, night, "Europe/Berlin"), "1 Mar 2026 23:30");
});
