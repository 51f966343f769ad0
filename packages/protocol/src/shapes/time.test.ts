import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { formatTimestamp, parseTimestamp, Timestamp } from "./time.ts";

const MIN_NS = -(2n ** 63n);
const MAX_NS = 2n ** 63n - 1n;

test("nanoseconds survive the round trip exactly", () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: MIN_NS, max: MAX_NS }),
      (timeNs) => parseTimestamp(formatTimestamp(timeNs)) === timeNs,
    ),
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
  "9999-12-31T00:00:00Z",
  "P1D",
];
for (const text of refused)
  test(`"${text}" is refused with a sentence`, () => {
    const parsed = Timestamp.safeDecode(text);
    assert.equal(parsed.success, false);
    assert.match(parsed.error!.issues[0]!.message, /RFC 3339/);
  });
