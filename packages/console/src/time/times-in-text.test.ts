import assert from "node:assert/strict";
import { test } from "node:test";
import { withTimes } from "./times-in-text.ts";

test("times in a sentence are written as people read them, and all else stays", () => {
  assert.equal(
    withTimes("not heard of since 2026-11-30T20:15:39.46Z, or 2026-11-30T20:15:39Z."),
    "not heard of since 2026-11-30 20:15:39 UTC, or 2026-11-30 20:15:39 UTC.",
  );
  assert.equal(withTimes("2026-11-30/run-7.mcap"), "2026-11-30/run-7.mcap");
});
