import assert from "node:assert/strict";
import { test } from "node:test";
import { nextUploadRateChange, parseUploadRate, uploadRateAt } from "./upload-rate.ts";

const NO_LIMIT = Number.POSITIVE_INFINITY;

/** 2026-01-05 is a Monday. */
const at = (day: number, time: string) => new Date(`2026-01-0${day}T${time}`).getTime();

function inZone(zone: string, work: () => void): void {
  const before = process.env.TZ;
  process.env.TZ = zone;
  try {
    work();
  } finally {
    if (before === undefined) delete process.env.TZ;
    else process.env.TZ = before;
  }
}

test("a rate alone holds always, in bytes or bits, decimal or binary", () => {
  const rates: [string, number][] = [
    ["2MB/s", 2e6],
    ["1.5kB/s", 1500],
    ["1MiB/s", 2 ** 20],
    ["16Mbit/s", 2e6],
    ["2GB/s", 2e9],
    ["0", 0],
    ["off", 0],
    ["unlimited", NO_LIMIT],
  ];
  for (const [text, expected] of rates) assert.equal(uploadRateAt(parseUploadRate(text), 0), expected, text);
  assert.equal(nextUploadRateChange(parseUploadRate("2MB/s"), 0), undefined);
});

test("the first matching rule of a timetable counts; if none matches there is no limit", () => {
  const rules = parseUploadRate("Mon-Fri 08:00-18:00 1MB/s; mon off; Sat,Sun 10MB/s");
  assert.equal(uploadRateAt(rules, at(5, "08:00")), 1e6);
  assert.equal(uploadRateAt(rules, at(5, "17:59:59.999")), 1e6);
  assert.equal(uploadRateAt(rules, at(5, "18:00")), 0);
  assert.equal(uploadRateAt(rules, at(6, "18:00")), NO_LIMIT);
  assert.equal(uploadRateAt(rules, at(4, "12:00")), 1e7);
  assert.equal(nextUploadRateChange(rules, at(5, "12:34:56")), at(5, "18:00"));
});

test("hours over midnight belong to the day on which they begin, and days wrap around the week", () => {
  const rules = parseUploadRate("Fri-Mon 22:00-06:00 1MB/s");
  const limited = [at(9, "23:00"), at(5, "22:00"), at(6, "05:59"), at(4, "22:00")];
  const free = [at(9, "05:59"), at(6, "06:00"), at(6, "22:00"), at(5, "21:59")];
  for (const timeMs of limited) assert.equal(uploadRateAt(rules, timeMs), 1e6, new Date(timeMs).toString());
  for (const timeMs of free) assert.equal(uploadRateAt(rules, timeMs), NO_LIMIT, new Date(timeMs).toString());
});

test("a timetable follows the local time over a change of the clocks", () => {
  inZone("Europe/Berlin", () => {
    const rules = parseUploadRate("* 02:00-04:00 off");
    const utc = (text: string) => Date.parse(text);
    // 29 March 2026: after 01:59 comes 03:00, so that the two hours are one.
    assert.equal(uploadRateAt(rules, utc("2026-03-29T00:59Z")), NO_LIMIT);
    assert.equal(uploadRateAt(rules, utc("2026-03-29T01:00Z")), 0);
    assert.equal(nextUploadRateChange(rules, utc("2026-03-29T01:00Z")), utc("2026-03-29T02:00Z"));
    // 25 October 2026: 02:00 to 02:59 comes twice, so that they are three.
    assert.equal(uploadRateAt(rules, utc("2026-10-25T00:00Z")), 0);
    assert.equal(nextUploadRateChange(rules, utc("2026-10-25T00:00Z")), utc("2026-10-25T03:00Z"));
  });
});

test("adjacent rules with the same rate make no change", () => {
  const rules = parseUploadRate("* 00:00-12:00 1MB/s; * 12:00-24:00 1MB/s");
  assert.equal(nextUploadRateChange(rules, at(5, "11:00")), undefined);
});

test("an invalid rate is refused with a sentence that names the place", () => {
  const bad = [
    ["", /must not be empty/],
    ["fast", /"fast" is no rate/],
    ["10B/s", /at least 1kB/],
    ["-1MB/s", /no rate/],
    ["1MB", /no rate/],
    ["Mon-Funday 1MB/s", /"Mon-Funday" names no days/],
    ["8:00-25:00 1MB/s", /range of hours/],
    ["08:00-08:00 1MB/s", /range of hours/],
    ["08:00-24:30 1MB/s", /range of hours/],
    ["Mon Tue 08:00-09:00 1MB/s", /not of the form/],
    [Array(51).fill("1MB/s").join(";"), /at most 50/],
  ] as const;
  for (const [text, message] of bad) assert.throws(() => parseUploadRate(text), { name: "RangeError", message });
});
