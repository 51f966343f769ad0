import assert from "node:assert/strict";
import { test } from "node:test";
import { rangeOf, toDeviceFilter } from "./params.ts";

test("terms on properties are kept apart from a part of the name, also where a value has spaces", () => {
  assert.deepEqual(toDeviceFilter(""), {});
  assert.deepEqual(toDeviceFilter("  rover "), { nameMatches: "rover" });
  assert.deepEqual(toDeviceFilter('rover properties.site:munich properties.hall:"hall 3"'), {
    query: 'properties.site:munich properties.hall:"hall 3"',
    nameMatches: "rover",
  });
});

test("without a time in the address it is the last thirty days, and one end alone is left as it is", () => {
  assert.deepEqual(rangeOf({ from: "", to: "" }), { from: "now-30d", to: "" });
  assert.deepEqual(rangeOf({ from: "", to: "now-1d" }), { from: "", to: "now-1d" });
});
