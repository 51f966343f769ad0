import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api } from "@downlink/protocol";
import fc from "fast-check";
import { startCloud } from "../testing/start-cloud.ts";
import { recordingItem, startAgent } from "../testing/test-agent.ts";

const SECOND = 1_000_000_000n;
const EPOCH = 1_700_000_000n * SECOND;
const cloud = await startCloud({ after }, { works: false });
const { admin } = cloud;
const ALL = { start: 0n, end: 4_000_000_000n * SECOND, includeEdgeRecordings: true };

type Span = readonly [startSeconds: number, endSeconds: number];

async function deviceWith(name: string, spans: readonly Span[]) {
  const agent = await startAgent(cloud, name);
  const items = spans.map(([from, to]) =>
    recordingItem({ start: EPOCH + BigInt(from) * SECOND, end: EPOCH + BigInt(to) * SECOND }),
  );
  await agent.report(items);
  return agent;
}

async function rangesOf(deviceId: string, more: { tolerance?: number; start?: bigint; end?: bigint } = {}) {
  const ranges = await admin.call(api.coverage.list, { ...ALL, deviceId, ...more });
  return ranges.map((range) => [
    Number((range.start - EPOCH) / SECOND),
    Number((range.end - EPOCH) / SECOND),
    range.recordingCount,
  ]);
}

test("recordings whose gap is at most the tolerance merge; below 14 seconds it counts as 14", async () => {
  const { deviceId } = await deviceWith("gaps", [
    [0, 10],
    [24, 30],
    [45, 50],
    [200, 210],
  ]);
  assert.deepEqual(await rangesOf(deviceId), [
    [0, 30, 2],
    [45, 50, 1],
    [200, 210, 1],
  ]);
  assert.deepEqual(await rangesOf(deviceId, { tolerance: 0 }), await rangesOf(deviceId));
  assert.deepEqual(await rangesOf(deviceId, { tolerance: 15 }), [
    [0, 50, 3],
    [200, 210, 1],
  ]);
});

test("a recording inside a longer one does not end the range", async () => {
  const { deviceId } = await deviceWith("nested", [
    [0, 100],
    [10, 20],
    [110, 120],
  ]);
  assert.deepEqual(await rangesOf(deviceId), [[0, 120, 3]]);
});

test("ranges are not clipped to the query window, whose ends are inclusive", async () => {
  const { deviceId } = await deviceWith("window", [
    [0, 10],
    [100, 110],
  ]);
  const at = (seconds: number) => EPOCH + BigInt(seconds) * SECOND;
  assert.deepEqual(await rangesOf(deviceId, { start: at(10), end: at(50) }), [[0, 10, 1]]);
  assert.deepEqual(await rangesOf(deviceId, { start: at(11), end: at(100) }), [[100, 110, 1]]);
  assert.deepEqual(await rangesOf(deviceId, { start: at(11), end: at(99) }), []);
});

test("by default only imported recordings count; with edge recordings each range has one import status", async () => {
  const { deviceId } = await deviceWith("statuses", [
    [0, 10],
    [12, 20],
  ]);
  assert.deepEqual(await admin.call(api.coverage.list, { ...ALL, deviceId, includeEdgeRecordings: false }), []);
  const [first] = await admin.call(api.recordings.list, { deviceId, sortBy: "start" });
  await admin.call(api.recordings.requestImport, { keyOrId: first!.id });
  const ranges = await admin.call(api.coverage.list, { ...ALL, deviceId });
  assert.deepEqual(
    ranges.map(({ importStatus, status, device }) => [importStatus, status, device!.name]),
    [
      ["pending", "import-pending", "statuses"],
      ["none", "at-edge", "statuses"],
    ],
  );
});

test("any set of recordings gives the ranges that a slow obvious merge gives", async () => {
  const span = fc
    .tuple(fc.integer({ min: 0, max: 2000 }), fc.integer({ min: 0, max: 120 }))
    .map(([from, length]): Span => [from, from + length]);
  let run = 0;
  const sameAsObvious = async (spans: Span[], tolerance: number) => {
    const { deviceId } = await deviceWith(`random-${run++}`, spans);
    assert.deepEqual(await rangesOf(deviceId, { tolerance }), mergeObviously(spans, Math.max(14, tolerance)));
  };
  await fc.assert(
    fc.asyncProperty(fc.array(span, { minLength: 1, maxLength: 30 }), fc.integer({ min: 0, max: 60 }), sameAsObvious),
    { numRuns: 40 },
  );
});

/** Joins any two ranges that are near enough until none are left. */
function mergeObviously(spans: readonly Span[], tolerance: number): number[][] {
  const ranges = spans.map(([from, to]) => [from, to, 1]);
  for (;;) {
    const pair = ranges
      .flatMap((a, i) => ranges.slice(i + 1).map((b) => [a, b] as const))
      .find(([a, b]) => isNear(a, b, tolerance));
    if (!pair) return ranges.sort((a, b) => a[0]! - b[0]!);
    const [a, b] = pair;
    ranges.splice(ranges.indexOf(b), 1);
    a.splice(0, 3, Math.min(a[0]!, b[0]!), Math.max(a[1]!, b[1]!), a[2]! + b[2]!);
  }
}

function isNear(a: readonly number[], b: readonly number[], tolerance: number): boolean {
  return Math.max(a[0]!, b[0]!) - Math.min(a[1]!, b[1]!) <= tolerance;
}
