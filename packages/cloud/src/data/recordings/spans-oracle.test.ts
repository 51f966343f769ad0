import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api } from "@downlink/protocol";
import { propertyRuns } from "@downlink/recordings/testing";
import fc from "fast-check";
import { startCloud } from "../../testing/start-cloud.ts";
import { recordingItem, startAgent } from "../../testing/test-agent.ts";

const SECOND = 1_000_000_000n;
const HOUR = 3600n * SECOND;
const cloud = await startCloud({ after }, { works: false });
const { admin } = cloud;
const { deviceId, report } = await startAgent(cloud, "robot");

/** Forty recordings of up to 400 hours, in up to six spans of whole hours; every fifth has one span. */
const recorded = Array.from({ length: 40 }, (_, number) => {
  const count = number % 5 === 0 ? 1 : 2 + (number % 5);
  let at = BigInt((number * 37) % 300);
  const spans = Array.from({ length: count }, (__, index) => {
    const start = at + 2n + BigInt((number * 13 + index * 29) % 60);
    at = start + BigInt((number + index) % 4);
    return { start: start * HOUR, end: at * HOUR };
  });
  return { path: `run-${number}.mcap`, spans };
});
await report(
  recorded.map(({ path, spans }) => {
    const more = spans.length > 1 ? { spans } : {};
    return recordingItem({ path, start: spans[0]!.start, end: spans.at(-1)!.end, ...more });
  }),
);

const half = HOUR / 2n;
const window = fc
  .tuple(fc.integer({ min: 0, max: 1400 }), fc.integer({ min: 0, max: 60 }))
  .map(([from, length]) => ({ start: BigInt(from) * half, end: BigInt(from + length) * half }));
type Window = { readonly start: bigint; readonly end: bigint };

const touches = (span: Window, { start, end }: Window) => span.start <= end && span.end >= start;
const all = recorded.flatMap(({ spans }) => spans);

test("lists in any order, sums, coverage and the nearest data are what a slow comparison of all spans gives", async () => {
  const agrees = fc.asyncProperty(window, async (asked) => {
    const found = recorded.filter(({ spans }) => spans.some((span) => touches(span, asked))).map(({ path }) => path);
    for (const sortBy of ["createdAt", "start", "end", "duration", "path"] as const) {
      const list = await admin.call(api.recordings.list, { deviceId, sortBy, ...asked });
      assert.deepEqual(list.map(({ path }) => path).sort(), found.toSorted(), sortBy);
    }
    assert.equal((await admin.call(api.recordings.summarize, { deviceId, ...asked })).count, found.length);
    const query = { deviceId, includeEdgeRecordings: true, ...asked };
    const ranges = await admin.call(api.coverage.list, query);
    assert.deepEqual(
      ranges.map(({ start, end }) => [start, end]),
      mergeSpans(all.filter((span) => touches(span, asked))),
    );
    const { previous, next } = await admin.call(api.coverage.span, query);
    assert.deepEqual([previous, next], found.length > 0 ? [undefined, undefined] : findBeside(asked));
  });
  await fc.assert(agrees, { numRuns: propertyRuns(600) });
});

/** The ends of spans are whole hours, so that only those that touch are within the tolerance. */
function mergeSpans(spans: readonly Window[]): [start: bigint, end: bigint][] {
  const merged: [start: bigint, end: bigint][] = [];
  for (const { start, end } of spans.toSorted((a, b) => Number(a.start - b.start))) {
    const last = merged.at(-1);
    if (!last || start > last[1]) merged.push([start, end]);
    else if (end > last[1]) last[1] = end;
  }
  return merged;
}

function findBeside({ start, end }: Window): (bigint | undefined)[] {
  const before = all.filter((span) => span.end < start).sort((a, b) => Number(a.end - b.end));
  const behind = all.filter((span) => span.start > end).sort((a, b) => Number(a.start - b.start));
  return [before.at(-1)?.end, behind[0]?.start];
}
