import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { indexRecording } from "../inspect/index-recording.ts";
import { bytesSource } from "../sources/source.ts";
import { makeBag, makeMcap, readMessages, writeMessages } from "../testing/index.ts";
import { propertyRuns } from "../testing/property-runs.ts";
import { ACTIVITY_PARTS, ActivityLog } from "./activity-log.ts";
import type { RunChannel, VerifiedRun } from "./verified-run.ts";

const MS = 1_000_000n;
const START_NS = 1_700_000_000_000_000_000n;

const byTime = (one: bigint, other: bigint) => (one < other ? -1 : 1);

function runOf(channels: readonly Partial<RunChannel>[]): VerifiedRun {
  const all = channels.map((channel) => ({ channelId: 1, messageCount: 1, maxGapNs: 0, ...channel }));
  const times = all.map((channel) => channel.startNs!);
  return { startNs: times.sort(byTime)[0]!, channels: all } as unknown as VerifiedRun;
}

/** Adds one run for each message, as in a file with one message in each chunk. */
function logOf(times: readonly bigint[]) {
  const log = new ActivityLog();
  for (const ns of times) log.add(runOf([{ startNs: ns, endNs: ns }]));
  const sorted = [...times].sort(byTime);
  return { ...log.of([1], sorted[0]!, sorted.at(-1)!), first: sorted[0]!, last: sorted.at(-1)! };
}

const index = async (bytes: Uint8Array, fileName = "a.mcap") => {
  const indexed = await indexRecording(bytesSource(bytes), { fileName, write: async () => {} });
  assert.equal(indexed.state, "finished");
  return "summary" in indexed ? indexed.summary.topics : [];
};

test("the parts with messages are those in which there are some, to one part on either side", () => {
  const time = fc.oneof(fc.bigInt(0n, 10n ** 6n), fc.bigInt(0n, 2n ** 62n));
  const agrees = fc.property(fc.array(time, { minLength: 1, maxLength: 200 }), (times) => {
    const { activity, first, last } = logOf(times);
    assert.equal(activity!.length, ACTIVITY_PARTS);
    const partOf = (ns: bigint) => Math.min(255, last === first ? 0 : Number(((ns - first) * 256n) / (last - first)));
    const parts = times.map(partOf);
    const isNear = (part: number) => parts.some((other) => Math.abs(other - part) <= 1);
    for (const [part, value] of activity!.entries()) assert.ok(value === 0 || isNear(part), `${part}`);
    for (const part of parts) assert.ok([part - 1, part, part + 1].some((near) => (activity![near] ?? 0) > 0));
    assert.equal(Math.max(...activity!), 255);
  });
  fc.assert(agrees, { numRuns: propertyRuns(2000) });
});

test("the longest gap is that between two messages; if they are not in order, it is unknown", () => {
  const agrees = fc.property(fc.array(fc.bigInt(0n, 2n ** 52n), { minLength: 2, maxLength: 50 }), (times) => {
    const sorted = [...times].sort(byTime);
    const gaps = sorted.slice(1).map((ns, at) => ns - sorted[at]!);
    const longest = gaps.sort(byTime).at(-1)!;
    assert.equal(logOf(sorted).maxGapNs, longest);
    const isInOrder = times.every((ns, at) => at === 0 || ns >= times[at - 1]!);
    if (!isInOrder) assert.equal(logOf(times).maxGapNs, undefined);
  });
  fc.assert(agrees, { numRuns: propertyRuns(200) });
  assert.equal(logOf([5n]).maxGapNs, undefined);
});

test("a file's topics have their longest gap, within a chunk and between chunks", async () => {
  const bytes = await makeMcap({ startNs: START_NS, durationSeconds: 5 });
  const byTopic = Map.groupBy(readMessages(bytes), ({ topic }) => topic);
  for (const { topic, maxGapNs, activity } of await index(bytes)) {
    const times = byTopic.get(topic)!.map(({ logTimeNs }) => logTimeNs);
    const gaps = times.slice(1).map((ns, at) => ns - times[at]!);
    assert.equal(maxGapNs, gaps.length > 0 ? gaps.sort(byTime).at(-1)! : undefined, topic);
    assert.equal(activity!.length, ACTIVITY_PARTS);
  }
});

test("a pause shows as parts without a message", async () => {
  const seconds = [...Array(100).keys()].filter((second) => second < 40 || second >= 60);
  const messages = seconds.map((second) => ({
    topic: "/a",
    logTimeNs: START_NS + BigInt(second) * 1000n * MS,
    data: Buffer.from("x"),
  }));
  const shape = { topics: ["/a"], schema: "", compression: "", chunkBytes: 10, isIndexed: true } as const;
  const [topic] = await index(await writeMessages({ messages, ...shape }));
  assert.equal(topic!.maxGapNs, 21_000n * MS);
  const silent = [...topic!.activity!.entries()].filter(([part]) => part > (41 / 99) * 256 && part < (59 / 99) * 256);
  assert.ok(silent.length > 40 && silent.every(([, value]) => value === 0));
});

test("a bag has the same", async () => {
  const topics = await index(await makeBag({ startNs: START_NS, durationSeconds: 5 }), "a.bag");
  assert.ok(topics.length > 0);
  for (const { messageCount, maxGapNs, activity } of topics) {
    assert.equal(maxGapNs === undefined, messageCount < 2);
    assert.equal(activity!.length, ACTIVITY_PARTS);
  }
});

test("in a file of 65,535 channels the first ones have parts, and all have their gap", () => {
  const log = new ActivityLog();
  for (const ns of [0n, 10n])
    log.add(runOf([...Array(65_535).keys()].map((channelId) => ({ channelId, startNs: ns, endNs: ns }))));
  assert.ok(log.of([2047], 0n, 10n).activity);
  const beyond = log.of([2048], 0n, 10n);
  assert.deepEqual([beyond.activity, beyond.maxGapNs], [undefined, 10n]);
});
