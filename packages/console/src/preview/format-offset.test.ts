import assert from "node:assert/strict";
import { test } from "node:test";
import { formatOffset } from "./format-offset.ts";

test("seconds are written as a clock, rounded to the digits that are asked for", () => {
  const texts = [0, 7.04, 59.96, 267.2, 3723.45, -3].map((seconds) => formatOffset(seconds, 1));
  assert.deepEqual(texts, ["0:00.0", "0:07.0", "1:00.0", "4:27.2", "1:02:03.5", "−0:03.0"]);
  assert.deepEqual([formatOffset(727), formatOffset(3600), formatOffset(-0.2)], ["12:07", "1:00:00", "0:00"]);
});
