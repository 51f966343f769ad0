import assert from "node:assert/strict";
import { test } from "node:test";
import { addSample, rateOf, type Sample } from "./rate.ts";

const collect = (samples: readonly Sample[]) => samples.reduce<readonly Sample[]>(addSample, []);

test("the rate is that of the last seconds", () => {
  const slow = Array.from({ length: 20 }, (_, at) => ({ atMs: at * 1000, bytes: at * 100 }));
  assert.equal(rateOf(collect(slow)), 100);
  const fast = Array.from({ length: 10 }, (_, at) => ({ atMs: 20_000 + at * 1000, bytes: 2000 + at * 900 }));
  assert.equal(rateOf(collect([...slow, ...fast])), 900);
});

test("too few samples have no rate, and bytes that are sent again begin another one", () => {
  assert.equal(rateOf([]), undefined);
  assert.equal(
    rateOf(
      collect([
        { atMs: 0, bytes: 0 },
        { atMs: 500, bytes: 10 },
      ]),
    ),
    undefined,
  );
  assert.equal(
    rateOf(
      collect([
        { atMs: 0, bytes: 0 },
        { atMs: 2000, bytes: 100 },
        { atMs: 3000, bytes: 50 },
      ]),
    ),
    undefined,
  );
});
