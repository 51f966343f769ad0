import assert from "node:assert/strict";
import { test } from "node:test";
import { everything, extend, isEmpty, isSelected, nothing, toggle } from "./selection.ts";

test("a row is selected and left out by turns, and the selection before stays as it was", () => {
  const one = toggle(nothing, "a");
  const two = toggle(one, "b");
  assert.deepEqual([...two.ids], ["a", "b"]);
  assert.deepEqual([...toggle(two, "a").ids], ["b"]);
  assert.deepEqual([...one.ids], ["a"]);
  assert.ok(isEmpty(toggle(one, "a")) && isEmpty(nothing) && !isEmpty(one));
});

test("everything holds each row, and choosing a row ends it", () => {
  assert.ok(isSelected(everything, "a") && !isEmpty(everything));
  assert.deepEqual([...toggle(everything, "a").ids], ["a"]);
  assert.deepEqual([...extend(toggle(nothing, "a"), ["b", "a", "c"]).ids], ["a", "b", "c"]);
});
