import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { createReadContext } from "../read-context.ts";
import { bytesSource, countReads } from "../source.ts";
import { makeMcap } from "../testing/make-mcap.ts";
import { mergeRuns } from "./merge-runs.ts";
import { planExport } from "./plan-export.ts";

async function merge(bytes: Uint8Array, budgetBytes?: number) {
  const source = countReads(bytesSource(bytes));
  const context = createReadContext(source);
  const plan = await planExport(context, { fileName: "a.mcap" });
  const readBefore = source.bytesRead;
  const batches = await Array.fromAsync(mergeRuns(plan, context, budgetBytes));
  const messages = batches.flat().map(({ channelId, sequence, logTimeNs }) => ({ channelId, sequence, logTimeNs }));
  return { messages, runs: plan.runs.length, bytesRead: source.bytesRead - readBefore };
}

test("however small the memory and however much chunks overlap, messages come in the one right order", async () => {
  const spec = fc.record({
    disorderNs: fc.bigInt({ min: 0n, max: 3_000_000_000n }),
    chunkBytes: fc.integer({ min: 200, max: 20_000 }),
    isChunked: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(spec, fc.integer({ min: 1, max: 200_000 }), async (chosen, budgetBytes) => {
      const bytes = await makeMcap({ ...chosen, compression: "", durationSeconds: 1 });
      const frugal = await merge(bytes, budgetBytes);
      const generous = await merge(bytes);
      assert.deepEqual(frugal.messages, generous.messages);
      const sorted = generous.messages.toSorted((a, b) => Number(a.logTimeNs - b.logTimeNs));
      assert.deepEqual(generous.messages, sorted);
    }),
    { numRuns: 40 },
  );
});

test("with enough memory every run is loaded once; with little memory again, not more often than its share requires", async () => {
  const blob = { topic: "/b", kind: "blob", rateHz: 200, sizeBytes: 2000 } as const;
  const bytes = await makeMcap({ topics: [blob], disorderNs: 10_000_000_000n, chunkBytes: 40_000, compression: "" });
  const generous = await merge(bytes);
  assert.ok(generous.bytesRead <= bytes.byteLength, `${generous.bytesRead}`);
  const budgetBytes = generous.runs * 10_000;
  const frugal = await merge(bytes, budgetBytes);
  assert.deepEqual(frugal.messages, generous.messages);
  assert.ok(
    frugal.bytesRead > 2 * generous.bytesRead && frugal.bytesRead < 8 * generous.bytesRead,
    `${frugal.bytesRead}`,
  );
});
