import assert from "node:assert/strict";
import { test } from "node:test";
import type { Value } from "@downlink/messages/value";
import { readLog } from "./read-log.ts";

const levelsOf = (messages: Value[]) => messages.map((message) => readLog(message, 0).level);

test("levels have their names in each system", () => {
  const expected = ["DEBUG", "INFO", "WARN", "ERROR", "FATAL"];
  assert.deepEqual(levelsOf([1, 2, 4, 8, 16].map((level) => ({ level, msg: "" }))), expected);
  assert.deepEqual(levelsOf([10, 20, 30, 40, 50].map((level) => ({ level, msg: "" }))), expected);
  assert.deepEqual(levelsOf([1, 2, 3, 4, 5].map((level) => ({ level, message: "" }))), expected);
  assert.deepEqual(levelsOf(["DEBUG", "info", "WARNING", "Error", "FATAL"].map((level) => ({ level }))), expected);
});

test("a line has its time, node and text, and a level that is not known is no other one", () => {
  const row = readLog({ level: 20, name: "nav", msg: "Path to dock 3" }, 5);
  assert.deepEqual(row, { timeNs: 5, level: "INFO", node: "nav", text: "Path to dock 3" });
  const odd: Value[] = [
    { level: 3, msg: "" },
    { level: 0, message: "" },
    { level: 99, message: "" },
    { level: -1 },
    {},
    null,
    [1],
  ];
  assert.deepEqual(
    levelsOf(odd),
    odd.map(() => "?"),
  );
  assert.deepEqual(levelsOf([{ level: "" }, { level: 60, msg: "" }]), ["?", "?"]);
});

test("a text of any length is cut", () => {
  assert.equal(readLog({ msg: "a".repeat(1e6) }, 0).text.length, 2001);
});
