import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Fed } from "./decide-steps.ts";
import { decideSteps, type Step } from "./decide-steps.ts";
import type { OpenSource, PlannedRun } from "./planned-source.ts";

const [one, two] = ["one", "two"].map((fileName) => ({ fileName }) as OpenSource) as [OpenSource, OpenSource];

/** Makes a chunk of 100 bytes, which stands behind those of the same source that have a lower order. */
function run(startNs: number, endNs: number, more: Partial<PlannedRun> = {}): PlannedRun {
  const order = more.order ?? startNs;
  return {
    source: one,
    order,
    offset: 100 * order,
    recordBytes: 80,
    indexesBytes: 20,
    lengthBytes: 80,
    largestBytes: 80,
    dataStart: 0,
    storedBytes: 80,
    compression: "",
    isChunk: true,
    checksum: 0,
    indexesChecksum: 0,
    isInOrder: true,
    wantedBytes: 80,
    wantedCount: 1,
    wantedEnd: 80,
    isAllWanted: true,
    mayPick: false,
    place: { pageNumber: 0, row: 0 },
    startNs: BigInt(startNs),
    endNs: BigInt(endNs),
    mayPass: true,
    ...more,
  };
}

async function decide(runs: readonly PlannedRun[]): Promise<Step[]> {
  async function* feed(): AsyncGenerator<Fed> {
    for (const each of runs) yield { kind: "run", run: each };
  }
  return Array.fromAsync(decideSteps(feed()));
}

/** Names each step, such as `pass 2` for two runs that are passed on together. */
async function describe(runs: readonly PlannedRun[]): Promise<string[]> {
  const steps = await decide(runs);
  return steps.map((step) => ("runs" in step ? `${step.kind} ${step.runs.length}` : step.kind));
}

test("runs that overlap with nothing are passed on or rewritten; neighbours in one file together", async () => {
  assert.deepEqual(await describe([run(0, 0), run(1, 1), run(2, 2)]), ["pass 3"]);
  assert.deepEqual(await describe([run(0, 0), run(1, 1, { mayPass: false }), run(2, 2)]), [
    "pass 1",
    "rewrite 1",
    "pass 1",
  ]);
  assert.deepEqual(await describe([run(0, 0), run(1, 1, { source: two })]), ["pass 1", "pass 1"]);
  assert.deepEqual(await describe([run(0, 0), run(1, 1, { offset: 150 })]), ["pass 1", "pass 1"]);
  assert.deepEqual(await describe([run(0, 0), run(1, 1, { recordBytes: 3_000_000 })]), ["pass 1", "pass 1"]);
  assert.deepEqual(await describe([]), []);
});

test("runs that are rewritten are read together also with a little between them", async () => {
  const damaged = { mayPass: false };
  const apart = (offset: number): Partial<PlannedRun> => ({ ...damaged, offset });
  assert.deepEqual(await describe([run(0, 0, apart(0)), run(1, 1, apart(150)), run(2, 2, apart(4346))]), ["rewrite 3"]);
  assert.deepEqual(await describe([run(0, 0, apart(0)), run(1, 1, apart(4197))]), ["rewrite 1", "rewrite 1"]);
  assert.deepEqual(await describe([run(0, 0, apart(500)), run(1, 1, apart(0))]), ["rewrite 1", "rewrite 1"]);
  const many = Array.from({ length: 640 }, (_, index) => run(index, index, apart(200 * index)));
  assert.equal((await describe(many)).length, 10);
});

test("runs of which little is wanted are read together wherever they stand, up to a megabyte of what is wanted", async () => {
  const sparse = { mayPass: false, mayPick: true };
  assert.deepEqual(await describe([run(0, 0, sparse), run(5, 5, sparse), run(9, 9)]), ["pick 2", "pass 1"]);
  assert.deepEqual(await describe([run(0, 0, sparse), run(5, 5, { ...sparse, wantedBytes: 1_048_576 })]), [
    "pick 1",
    "pick 1",
  ]);
  assert.deepEqual(await describe([run(0, 3, sparse), run(2, 5, sparse)]), ["merge", "merge"]);
});

test("runs that overlap are merged, also across those between them", async () => {
  assert.deepEqual(await describe([run(0, 9), run(5, 15), run(20, 21)]), ["merge", "merge", "pass 1"]);
  assert.deepEqual(await describe([run(0, 9), run(1, 2), run(3, 4), run(10, 11)]), [
    "merge",
    "merge",
    "merge",
    "pass 1",
  ]);
});

test("runs that only touch overlap when the later one comes first by source and place", async () => {
  assert.deepEqual(await describe([run(0, 5, { order: 1 }), run(5, 9, { order: 2 })]), ["pass 2"]);
  assert.deepEqual(await describe([run(0, 5, { order: 2 }), run(5, 9, { order: 1 })]), ["merge", "merge"]);
});

test("runs that reach to the last time that a run can have are merged, because their messages may have later times", async () => {
  const [startNs, endNs] = [2n ** 63n - 2n, 2n ** 63n - 1n];
  assert.deepEqual(await describe([run(0, 0, { endNs: startNs }), run(1, 1, { startNs, endNs })]), ["pass 2"]);
  assert.deepEqual(await describe([run(0, 0, { endNs }), run(1, 1, { startNs: endNs, endNs })]), ["merge", "merge"]);
});

test("what is not merged has no message of another run between its own", async () => {
  const span = fc.tuple(fc.nat({ max: 30 }), fc.nat({ max: 6 }));
  await fc.assert(
    fc.asyncProperty(fc.array(span, { maxLength: 12 }), async (spans) => {
      const runs = spans.map(([start, length], order) => run(start, start + length, { order }));
      const inOrder = runs.toSorted((a, b) => Number(a.startNs - b.startNs) || a.order - b.order);
      const steps = await decide(inOrder);
      assert.equal(
        steps.reduce((sum, step) => sum + ("runs" in step ? step.runs.length : 1), 0),
        runs.length,
      );
      const key = (timeNs: bigint, { order }: PlannedRun) => Number(timeNs) * 100 + order;
      for (const alone of steps.flatMap((step) => ("runs" in step ? step.runs : []))) {
        for (const other of runs) {
          const isBefore = key(other.endNs, other) < key(alone.startNs, alone);
          assert.ok(other === alone || isBefore || key(other.startNs, other) > key(alone.endNs, alone));
        }
      }
    }),
  );
});
