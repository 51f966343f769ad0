import assert from "node:assert/strict";
import { test } from "node:test";
import { TrainingMapping } from "@downlink/protocol";
import fc from "fast-check";
import { parquetReadObjects } from "hyparquet";
import { TrainingError } from "../episodes/episode.ts";
import { writeLeRobotSet } from "../lerobot/write-set.ts";
import { type MadeMessage, makeEpisode } from "../testing/make-episode.ts";
import { MemoryFiles } from "../testing/memory-files.ts";
import { alignSlowly } from "../testing/slow-aligner.ts";
import { planMapping } from "./plan.ts";

const START_NS = 1_767_323_045_000_000_001n;
const topics = ["/a", "/b"] as const;

const part = fc.record({
  topic: fc.constantFrom(...topics),
  align: fc.constantFrom("hold", "nearest", "interpolate"),
  offsetMs: fc.constantFrom(0, 0, 0.5, -20),
});
const feature = fc.record({
  dtype: fc.constant("float64" as const),
  shiftRows: fc.constantFrom(0, 0, 1, 2),
  parts: fc.array(part, { minLength: 1, maxLength: 2 }),
});
const mapping = fc.record({
  fps: fc.constantFrom(1, 7, 30, 100),
  task: fc.constant({ text: "" }),
  maxGapMs: fc.constantFrom(0, 20, 33, 60, 400),
  onGap: fc.constantFrom("fail", "dropEpisode", "splitEpisode"),
  minFrames: fc.constantFrom(1, 3),
  features: fc.record({ state: feature, action: feature }),
});
/** Milliseconds after each other: most are regular, some jump, some are equal. */
const steps = fc.array(fc.constantFrom(...Array.from({ length: 12 }, () => 10), 11, 0, 33, 90), {
  maxLength: 60,
  size: "max",
});

function toMessages(topic: string, distancesMs: readonly number[], firstMs: number): MadeMessage[] {
  let ms = firstMs;
  return distancesMs.map((distance, index) => {
    ms += distance;
    return { topic, atNs: START_NS + BigInt(ms) * 1_000_000n, value: [index, Math.sin(index)] };
  });
}

test("rows are those that a search through all messages finds, read back from the file", async () => {
  const made = fc.record({
    ...{ mapping, a: steps, b: steps, beginsMs: fc.constantFrom(0, -30, 15), lateMs: fc.constantFrom(0, 40) },
  });
  const seen = { pieces: 0, gaps: 0, empty: 0 };
  await fc.assert(
    fc.asyncProperty(made, async ({ mapping: fields, a, b, beginsMs, lateMs }) => {
      const messages = [...toMessages("/a", a, beginsMs), ...toMessages("/b", b, beginsMs + lateMs)];
      const episode = makeEpisode({ messages, startNs: START_NS, endNs: START_NS + 400_000_000n });
      const parsed = TrainingMapping.parse(fields);
      const expected = alignSlowly(planMapping(parsed), episode, messages);
      const files = new MemoryFiles();
      const writing = writeLeRobotSet({ mapping: parsed, episodes: [episode], about: {}, open: files.open });
      if (expected === "gap" || expected.length === 0) {
        seen[expected === "gap" ? "gaps" : "empty"] += 1;
        await assert.rejects(writing, TrainingError);
        return;
      }
      seen.pieces += expected.length;
      await writing;
      assert.deepEqual(await readPieces(files), expected);
    }),
    { numRuns: 600 },
  );
  assert.ok(seen.pieces > 100 && seen.gaps > 20 && seen.empty > 20, JSON.stringify(seen));
});

async function readPieces(files: MemoryFiles): Promise<unknown[][]> {
  const bytes = files.read("data/chunk-000/file-000.parquet");
  const rows = await parquetReadObjects({ file: new Uint8Array(bytes).buffer });
  const byEpisode = Map.groupBy(rows, (row) => row.episode_index as bigint);
  return [...byEpisode.values()].map((piece) => piece.map(({ state, action }) => ({ state, action })));
}
