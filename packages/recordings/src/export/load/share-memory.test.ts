import assert from "node:assert/strict";
import { test } from "node:test";
import { refusedWith } from "../../testing/refused-with.ts";
import type { PlannedRun, RunSpans } from "../plan/planned-source.ts";
import { createMemoryShare } from "./share-memory.ts";

function run(start: number, end: number, lengthBytes = 1000): PlannedRun {
  return { startNs: BigInt(start), endNs: BigInt(end), lengthBytes } as PlannedRun;
}

function spansOf(runs: readonly PlannedRun[]): RunSpans {
  return {
    length: runs.length,
    startsNs: () => BigInt64Array.from(runs, ({ startNs }) => startNs),
    endsNs: () => BigInt64Array.from(runs, ({ endNs }) => endNs),
    largestBytes: () => Math.max(...runs.map(({ lengthBytes }) => lengthBytes)),
  };
}

test("runs that overlap share the memory, also those that are merged already and those of sources to come", () => {
  const memory = createMemoryShare(1200, []);
  assert.equal(memory.shareBytes(), 1200);
  const long = run(0, 100);
  memory.plan([spansOf([long, run(0, 5)]), spansOf([run(6, 9)])]);
  assert.equal(memory.shareBytes(), 600);
  memory.hold(long, 100);
  memory.plan([spansOf([run(50, 60), run(55, 70)])]);
  assert.equal(memory.shareBytes(), 400);
  memory.hold(long, 0);
  memory.plan([spansOf([run(50, 60)])]);
  assert.equal(memory.shareBytes(), 1200);
  assert.equal(createMemoryShare(1200, [run(0, 9), run(5, 20), run(6, 7), run(30, 40)]).shareBytes(), 400);
});

test("what is held already is not given away again, but for what progress needs", () => {
  const memory = createMemoryShare(10_240, []);
  const [one, other] = [run(0, 9), run(1, 8)];
  memory.hold(one, 9000);
  assert.equal(memory.shareBytes(), 1240);
  memory.hold(other, 1240);
  assert.equal(memory.shareBytes(), 10);
  memory.hold(one, 500);
  assert.equal(memory.shareBytes(), 8500);
});

test("chunks that would be read again and again are refused", () => {
  const deep = (count: number) => [spansOf(Array.from({ length: count }, () => run(0, 1, 1_000_000)))];
  const memory = createMemoryShare(1_000_000, []);
  memory.plan(deep(64));
  assert.throws(() => memory.plan(deep(65)), refusedWith("TooMuchOverlap"));
});
