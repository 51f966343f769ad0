import assert from "node:assert/strict";
import { test } from "node:test";
import { GCProfiler } from "node:v8";
import { withSmallHeap } from "./heap-growth.ts";

/** Counts the collections of the whole heap during so many works that do nothing. */
async function countCollections(works: number): Promise<number> {
  const profiler = new GCProfiler();
  profiler.start();
  for (let work = 0; work < works; work += 1) await withSmallHeap(async () => {});
  const { statistics } = profiler.stop();
  return statistics.filter(({ gcType }) => gcType === "MarkSweepCompact").length;
}

test("memory is given back before the first work, and not again for each of those that follow", async () => {
  assert.ok((await countCollections(1)) > 0);
  assert.ok((await countCollections(20)) < 10); // V8 may collect of its own accord
});
