import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { formatTimestamp, parseTimestamp, TimeBound, Timestamp } from "./time.ts";

const MIN_NS = -(2n ** 63n);
const MAX_NS = 2n ** 63n - 1n;
const NS_PER_MS = 1_000_000n;

test("nanoseconds survive the round trip exactly", () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: MIN_NS, max: MAX_NS }),
      (timeNs) => parseTimestamp(formatTimestamp(timeNs)) === timeNs,
    ),
  );
});

test("a time is written as Date writes it, with its nanoseconds", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: MIN_NS, max: MAX_NS }), (timeNs) => {
      const restNs = ((timeNs % NS_PER_MS) + NS_PER_MS) % NS_PER_MS;
      const ms = Number((timeNs - restNs) / NS_PER_MS);
      const [, second, fraction] = /^(.*)\.(.*)Z$/.exec(new Date(ms).toISOString())!;
      const digits = `${fraction}${String(restNs).padStart(6, "0")}`.replace(/0+$/, "");
      assert.equal(formatTimestamp(timeNs), `${second}${digits && `.${digits}`}Z`);
    }),
    { examples: [[0n], [-1n], [-1_000_000_000n], [1_000_000n], [10n]] },
  );
});

const accepted: [text: string, out: string][] = [
  ["2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"],
  ["2026-01-02T03:04:05.1Z", "2026-01-02T03:04:05.1Z"],
  ["2026-01-02T03:04:05.100000000Z", "2026-01-02T03:04:05.1Z"],
  ["2026-01-02T03:04:05.123456789z", "2026-01-02T03:04:05.123456789Z"],
  ["2026-01-02T03:04:05+00:00", "2026-01-02T03:04:05Z"],
  ["2026-01-02T03:04:05.5+02:00", "2026-01-02T01:04:05.5Z"],
  ["2026-01-01T00:30:00-01:30", "2026-01-01T02:00:00Z"],
  ["2026-01-02", "2026-01-02T00:00:00Z"],
  ["1969-12-31T23:59:59.999999999Z", "1969-12-31T23:59:59.999999999Z"],
  ["0099-01-01T00:00:00Z", ""],
  ["2024-02-29T00:00:00Z", "2024-02-29T00:00:00Z"],
  ["2016-12-31T23:59:60Z", "2017-01-01T00:00:00Z"],
  ["2012-06-30T23:59:60.5Z", "2012-07-01T00:00:00.5Z"],
  ["1990-12-31T15:59:60-08:00", "1991-01-01T00:00:00Z"],
];
for (const [text, out] of accepted)
  test(`${text} is ${out || "beyond 64 bits of nanoseconds, and refused"}`, () => {
    const timeNs = parseTimestamp(text);
    assert.equal(timeNs === undefined ? "" : formatTimestamp(timeNs), out);
  });

const refused = [
  "",
  "now",
  "2026-01-02T03:04:05",
  "2026-01-02 03:04:05Z",
  "2026-01-02T03:04Z",
  "2026-01-02T03:04:05.Z",
  "2026-01-02T03:04:05.1234567890Z",
  "2026-02-29T00:00:00Z",
  "2026-13-01T00:00:00Z",
  "2026-01-02T24:00:00Z",
  "2026-01-02T03:04:05+2:00",
  "2026-01-02T03:04:05+24:00",
  "1767323045",
  "2016-12-31T12:59:60Z",
  "2016-12-30T23:59:60Z",
  "2016-11-30T23:59:60Z",
  "2016-12-31T23:58:60Z",
  "2016-12-31T23:59:60+01:00",
  "1969-12-31T23:59:60Z",
  "P1D",
];
for (const text of refused)
  test(`"${text}" is refused with a sentence`, () => {
    const parsed = Timestamp.safeDecode(text);
    assert.equal(parsed.success, false);
    assert.match(parsed.error!.issues[0]!.message, /RFC 3339/);
  });

test("a time whose plus became a space, as in an address that does not encode it, is refused with that reason", () => {
  for (const schema of [Timestamp, TimeBound])
    for (const text of ["2026-01-02T03:04:05 02:00", "2026-01-02t03:04:05.123 02:00"])
      assert.match(schema.safeDecode(text).error!.issues[0]!.message, /^has a space where .*%2B/);
  for (const text of ["2026-01-02T03:04:05 Z", "2026-01-02 03:04:05"])
    assert.match(Timestamp.safeDecode(text).error!.issues[0]!.message, /RFC 3339/);
});

const beyond: [text: string, bound: bigint][] = [
  ["0000-01-01T00:00:00Z", MIN_NS],
  ["0099-12-31T00:00:00Z", MIN_NS],
  ["1677-09-21T00:12:43.145224191Z", MIN_NS],
  ["2262-04-11T23:47:16.854775808Z", MAX_NS],
  ["9999-12-31T23:59:59.999999999-23:59", MAX_NS],
];
for (const [text, bound] of beyond)
  test(`${text} is beyond the range: refused with its ends as a time, and its end as a bound`, () => {
    const { error } = Timestamp.safeDecode(text);
    const range = "must be from 1677-09-21T00:12:43.145224192Z to 2262-04-11T23:47:16.854775807Z";
    assert.equal(error!.issues[0]!.message, range);
    assert.equal(TimeBound.decode(text), bound);
  });

test("within the range a bound is the time that it expresses, and an invalid text is no bound", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: MIN_NS, max: MAX_NS }), (timeNs) => {
      assert.equal(TimeBound.decode(formatTimestamp(timeNs)), timeNs);
    }),
  );
  for (const text of refused) assert.equal(TimeBound.safeDecode(text).success, false, text);
});
