import assert from "node:assert/strict";
import { test } from "node:test";
import { nameRange, readRange, resolveRange, shiftRange, toAbsolute } from "./range.ts";

const NOW = Date.UTC(2026, 3, 14, 12);
const options = { zone: "UTC", nowMs: NOW };

test("a range keeps a distance from now until it is made absolute", () => {
  assert.deepEqual(readRange({ from: "Now - 7d", to: "" }, options), {
    range: { from: "now-7d", to: "" },
    problems: {},
  });
  assert.deepEqual(toAbsolute({ from: "now-7d", to: "" }, NOW), {
    from: "2026-04-07T12:00:00Z",
    to: "2026-04-14T12:00:00Z",
  });
  assert.deepEqual(resolveRange({ from: "", to: "" }, NOW), { startNs: undefined, endNs: undefined });
});

test("a range is moved by its own length, to and fro", () => {
  const range = { from: "2026-04-14T00:00:00Z", to: "2026-04-15T00:00:00Z" };
  const next = shiftRange(range, 1, NOW);
  assert.deepEqual(next, { from: "2026-04-15T00:00:00Z", to: "2026-04-16T00:00:00Z" });
  assert.deepEqual(shiftRange(next, -1, NOW), range);
  assert.deepEqual(shiftRange({ from: "2026-04-14T00:00:00Z", to: "" }, 1, NOW), {
    from: "2026-04-14T00:00:00Z",
    to: "",
  });
});

test("each end that is no time is named, and an end before the start", () => {
  const { range, problems } = readRange({ from: "yesterday", to: "2026-02-30" }, options);
  assert.equal(range, undefined);
  assert.match(problems.from!, /yesterday/);
  assert.match(problems.to!, /2026-02-30/);
  assert.match(readRange({ from: "2026-04-15", to: "2026-04-14" }, options).problems.to!, /before the start/);
});

test("a range is named by its ends, without what both share", () => {
  const name = (from: string, to: string) => nameRange({ from, to }, "UTC");
  assert.equal(name("", ""), "All time");
  assert.equal(name("now-7d", ""), undefined);
  assert.equal(name("2026-04-14T00:00:00Z", "2026-04-21T00:00:00Z"), "2026-04-14 – 2026-04-21 UTC");
  assert.equal(name("2026-04-14T03:00:00Z", "2026-04-14T04:30:12Z"), "2026-04-14 03:00 – 04:30:12 UTC");
  assert.equal(name("2026-04-14T03:00:00Z", ""), "2026-04-14 03:00 – now UTC");
  assert.equal(name("", "now-1d"), "… – now-1d UTC");
});
