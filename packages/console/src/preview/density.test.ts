import assert from "node:assert/strict";
import { test } from "node:test";
import { drawDensity, measureDensity } from "./density.ts";

test("the density counts the messages of all topics in each part, the last moment with the last part", () => {
  const span = { startNs: 100, endNs: 200 };
  assert.deepEqual(measureDensity([[100, 110, 199], [150, 200], []], span, 4), [1, 0, 0.5, 1]);
  assert.deepEqual(measureDensity([[99, 201]], span, 2), [0, 0], "what lies beside the span does not count");
  assert.deepEqual(measureDensity([[5]], { startNs: 5, endNs: 5 }, 2), [1, 0], "a span without a length");
});

test("an empty part has no bar, and the least one can be seen", () => {
  assert.equal(drawDensity([1, 0, 0.01]), "M0 1v-1h.7V1zM2 1v-0.1h.7V1z");
});
