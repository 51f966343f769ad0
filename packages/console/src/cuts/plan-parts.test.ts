import assert from "node:assert/strict";
import { test } from "node:test";
import { planParts, toFields } from "./plan-parts.ts";

const known = (id: string, start: bigint, topics: readonly string[]) => ({
  whole: { id, start, end: start + 10n },
  topics: topics.map((topic) => ({ topic })),
});

test("a part lies within its recording, and has those of the chosen topics that the recording has", () => {
  const [part, ...others] = planParts([known("rec_1", 100n, ["/imu", "/gps"]), known("rec_2", 200n, ["/imu"])], {
    topics: new Set(["/imu", "/camera"]),
    span: { startNs: 95n, endNs: 105n },
  });
  assert.deepEqual(others, []);
  assert.deepEqual(toFields(part!), { topics: ["/imu"], start: 100n, end: 105n });
});

test("a recording that lies in the span with all its topics is imported whole", () => {
  const span = { startNs: 0n, endNs: 1000n };
  const [all, some] = planParts([known("rec_1", 100n, ["/imu"]), known("rec_2", 200n, ["/imu", "/gps"])], {
    topics: new Set(["/imu"]),
    span,
  });
  assert.deepEqual([all!.isWhole, toFields(all!)], [true, {}]);
  assert.deepEqual([some!.isWhole, toFields(some!)], [false, { topics: ["/imu"], start: 200n, end: 210n }]);
});

test("nothing is asked for of a recording whose topics are silent then, are not chosen, or are not known", () => {
  const span = { startNs: 105n, endNs: 110n };
  const silent = { ...known("rec_1", 100n, []), topics: [{ topic: "/imu", start: 100n, end: 104n }] };
  assert.deepEqual(planParts([silent, known("rec_2", 100n, [])], { topics: undefined, span }), []);
  assert.deepEqual(planParts([known("rec_3", 100n, ["/imu"])], { topics: new Set(), span }), []);
  const until = { ...silent, topics: [{ topic: "/imu", start: 100n, end: 105n }] };
  assert.equal(planParts([until], { topics: undefined, span }).length, 1);
});
