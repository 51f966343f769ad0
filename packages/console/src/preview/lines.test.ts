import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { formatLine, parseLine, toggleLine } from "./lines.ts";

test("every line comes back from its text, which has no comma", () => {
  const topic = fc.string().filter((text) => !`${text}@`.slice(0, -1).includes("@/") && !text.endsWith("@"));
  fc.assert(
    fc.property(topic, fc.string(), (name, rest) => {
      const line = { topic: name, field: `/${rest}` };
      assert.deepEqual(parseLine(formatLine(line)), line);
      assert.ok(!formatLine(line).includes(","));
    }),
  );
  assert.equal(parseLine("nothing"), undefined);
});

test("a ninth line is not added, and one that is there is taken away", () => {
  const eight = ["1", "2", "3", "4", "5", "6", "7", "8"];
  assert.deepEqual(toggleLine(eight, "9"), eight);
  assert.deepEqual(
    toggleLine(eight, "3"),
    eight.filter((one) => one !== "3"),
  );
  assert.deepEqual(toggleLine([], "1"), ["1"]);
});
