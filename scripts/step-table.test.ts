import assert from "node:assert/strict";
import { test } from "node:test";
import { readCounts, toTable } from "./step-table.ts";

const printed = [
  "flaky: packages/agent/src/a.test.ts: a promise",
  "",
  "12 passed, 0 failed, 3 skipped, 1 flaky",
  "the end",
].join("\n");

test("the counts of a run and its flaky tests are read from what it printed; another program has none", () => {
  assert.deepEqual(readCounts(printed), {
    counts: { passed: 12, failed: 0, skipped: 3 },
    flaky: ["packages/agent/src/a.test.ts: a promise"],
  });
  assert.deepEqual(readCounts("all gates are green\n"), { counts: undefined, flaky: [] });
});

test("the table has a line for each step, and names what was flaky", () => {
  const ended = { isInterrupted: false, tookMs: 61_400 };
  const table = toTable([
    { name: "check", code: 0, ...ended, ...readCounts("") },
    { name: "test", code: 1, ...ended, ...readCounts(printed) },
  ]);
  assert.deepEqual(table.split("\n"), [
    "step           passed  failed  skipped  flaky  took",
    "check  passed                                  61 s",
    "test   FAILED      12       0        3      1  61 s",
    "",
    "flaky: packages/agent/src/a.test.ts: a promise",
  ]);
});
