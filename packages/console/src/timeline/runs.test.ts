import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { actionOf } from "./lane-keys.ts";
import { stateOf } from "./paint-row.ts";
import { rangeAround } from "./range-around.ts";
import { nextEdge, runsOf } from "./runs.ts";

const columns = fc.uint8Array({ minLength: 1, maxLength: 40, max: 31 });

test("runs are the columns again, each as long as it can be", () => {
  fc.assert(
    fc.property(columns, (given) => {
      const runs = runsOf(given);
      const states = runs.flatMap(({ state, fromPx, toPx }) => Array.from({ length: toPx - fromPx }, () => state));
      assert.deepEqual(states, [...given].map(stateOf));
      for (const [at, run] of runs.slice(1).entries())
        assert.ok(run.state !== runs[at]!.state || run.hasEvent !== runs[at]!.hasEvent);
    }),
  );
});

test("the next edge is where a run begins, and the ends of the row are the last ones", () => {
  fc.assert(
    fc.property(columns, fc.nat(39), fc.constantFrom(1 as const, -1 as const), (given, anywhere, direction) => {
      const at = anywhere % given.length;
      const starts = runsOf(given)
        .map(({ fromPx }) => fromPx)
        .filter((px) => px > 0);
      const wanted = direction === 1 ? starts.find((px) => px > at) : starts.findLast((px) => px < at);
      assert.equal(nextEdge(given, at, direction), wanted ?? (direction === 1 ? given.length - 1 : 0));
    }),
  );
});

test("the range around a column is all that has data without a gap, and nothing where there is none", () => {
  const given = Uint8Array.of(0, 1, 4, 8, 16, 1, 128, 2);
  const around = [0, 1, 2, 3, 4, 5, 6, 7].map((px) => rangeAround(given, px)).map(({ fromPx, toPx }) => [fromPx, toPx]);
  assert.deepEqual(around, [
    [0, 0],
    [1, 4],
    [1, 4],
    [1, 4],
    [4, 4],
    [5, 6],
    [6, 6],
    [7, 8],
  ]);
});

test("keys move the cursor, and keys of the browser are left alone", () => {
  const press = (key: string, held: Partial<Parameters<typeof actionOf>[0]> = {}) =>
    actionOf({ key, shiftKey: false, ctrlKey: false, metaKey: false, altKey: false, ...held });
  assert.deepEqual(press("ArrowRight"), { kind: "move", rows: 0, bins: 1 });
  assert.deepEqual(press("ArrowLeft", { shiftKey: true }), { kind: "move", rows: 0, bins: -50 });
  assert.deepEqual(press("ArrowRight", { ctrlKey: true }), { kind: "edge", direction: 1 });
  assert.deepEqual(press("i"), { kind: "import" });
  for (const [key, held] of [
    ["ArrowLeft", { altKey: true }],
    ["i", { ctrlKey: true }],
    ["-", { metaKey: true }],
    ["constructor", {}],
    ["Tab", {}],
  ] as const)
    assert.equal(press(key, held), undefined, key);
});
