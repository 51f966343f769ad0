import assert from "node:assert/strict";
import { test } from "node:test";
import { placeAt, timeToShow } from "./place-at.ts";

test("the place is that of the last time that is not after the moment", () => {
  const places = [-1, 0, 9, 10, 20, 25, 99].map((timeNs) => placeAt([0, 10, 20, 20, 30], timeNs, Number));
  assert.deepEqual(places, [-1, 0, 0, 1, 3, 3, 4]);
  assert.equal(placeAt([], 5, Number), -1);
});

test("a message is asked for by its own time where all times are known, and else by the moment", () => {
  const topic = { topic: "/a", schemaName: "", kind: "numbers", timesNs: [10, 20] } as const;
  assert.deepEqual(
    [5, 15, 99].map((timeNs) => timeToShow({ ...topic, messageCount: 2 }, timeNs)),
    [10, 10, 20],
  );
  assert.equal(timeToShow({ ...topic, messageCount: 4 }, 15), 15);
});
