import assert from "node:assert/strict";
import { test } from "node:test";
import { describeSilent } from "./silent.ts";

test("silent devices are named, the first three of many", () => {
  const named = (...names: string[]) => describeSilent(names.map((name) => ({ name })));
  assert.equal(named(), "");
  assert.equal(named("drone-1"), "drone-1 is silent: it sends once it is back.");
  assert.equal(named("drone-1", "picker-2"), "drone-1, picker-2 are silent: they send once they are back.");
  assert.equal(named("a", "b", "c", "d", "e"), "a, b, c and 2 more are silent: they send once they are back.");
});
