import assert from "node:assert/strict";
import { test } from "node:test";
import { parseDurationMs } from "./duration.ts";

test("a duration is a number with a unit", () => {
  const texts = { "500ms": 500, "0s": 0, "2s": 2000, "10min": 600_000, "1.5h": 5_400_000, "25h": 90_000_000 };
  for (const [text, ms] of Object.entries(texts)) assert.equal(parseDurationMs(text), ms, text);
  assert.equal(parseDurationMs("2d"), 172_800_000);
});

test("a text without a unit or number, or with another unit, a sign or spaces, is no duration", () => {
  for (const text of ["", "0", "10", "s", "1m", "1 s", " 1s", "-1s", "+1s", "1e3s", ".5s", "1.s", "1S", "1s ", "1s1s"])
    assert.equal(parseDurationMs(text), undefined, text);
});
