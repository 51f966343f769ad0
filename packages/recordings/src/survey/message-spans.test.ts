import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { indexRecording } from "../inspect/index-recording.ts";
import { inspectRecording, inspectSummary } from "../inspect/inspect.ts";
import { bytesSource } from "../sources/source.ts";
import { jumpedMessages, jumpedSpans, makeClockJump } from "../testing/clock-jump.ts";
import { makeBag } from "../testing/make-bag.ts";
import { makeMcap } from "../testing/make-mcap.ts";
import { propertyRuns } from "../testing/property-runs.ts";
import { field2Folder, skipWithout } from "../testing/shared-data.ts";
import { createSpanNotes, MAX_MESSAGE_SPANS, type MessageSpan, toMessageSpans } from "./message-spans.ts";
import type { RecordingSummary } from "./summary.ts";

const SECOND = 1_000_000_000n;
const HOUR = 3600n * SECOND;
const DAY = 24n * HOUR;
/** 2026-01-01T20:40:00Z */
const NOW = 1_767_300_000n * SECOND;

const gap = fc.oneof(
  fc.bigInt({ min: 0n, max: 2n * HOUR }),
  fc.bigInt({ min: 0n, max: 30n * DAY }),
  fc.bigInt({ min: 0n, max: 1000n * DAY }),
);
const parts = fc.array(fc.tuple(gap, gap, fc.boolean()), { minLength: 1, maxLength: 200 }).map((drawn) => {
  let atNs = 0n;
  return drawn.map(([beforeNs, lengthNs, isBack]) => {
    atNs = isBack && atNs > beforeNs ? atNs - beforeNs : atNs + beforeNs;
    return { startNs: atNs, endNs: atNs + (lengthNs % DAY) };
  });
});

test("every part lies in a span; spans are sorted, disjoint, at most 64, and reach from the first to the last part", () => {
  const holds = fc.property(parts, (drawn) => {
    const spans = toMessageSpans(drawn);
    for (const part of drawn) assert.ok(spans.some((span) => holdsPart(span, part)));
    for (const [at, span] of spans.entries()) {
      assert.ok(span.startNs <= span.endNs);
      if (at > 0) assert.ok(span.startNs - spans[at - 1]!.endNs > HOUR);
    }
    assert.ok(spans.length <= MAX_MESSAGE_SPANS);
    assert.ok(drawn.some(({ startNs }) => startNs === spans[0]!.startNs));
    assert.ok(drawn.some(({ endNs }) => endNs === spans.at(-1)!.endNs));
    assert.deepEqual(toMessageSpans(drawn.toReversed()), spans);
  });
  fc.assert(holds, { numRuns: propertyRuns(2000) });
});

test("parts that are noted one after another make the same spans", () => {
  const agrees = fc.property(parts, (drawn) => {
    const notes = createSpanNotes();
    for (const { startNs, endNs } of drawn) notes.note(startNs, endNs);
    assert.deepEqual(notes.toSpans(), toMessageSpans(drawn));
  });
  fc.assert(agrees, { numRuns: propertyRuns(2000) });
});

test("a gap counts if it is longer than an hour and than a hundredth of the whole", () => {
  const minutes = [0n, 2n * SECOND, 4n * SECOND, 120n * SECOND];
  assert.equal(toMessageSpans(minutes.map(instant)).length, 1, "a gap of two seconds in two minutes");
  assert.equal(toMessageSpans([long(0n, 5n * HOUR), long(5n * HOUR + 7n * 60n * SECOND, 5n * HOUR)]).length, 1);
  assert.equal(toMessageSpans([instant(0n), instant(HOUR)]).length, 1, "a gap of an hour");
  assert.equal(toMessageSpans([instant(0n), instant(HOUR + 1n)]).length, 2);
  const logger = Array.from({ length: 130 }, (_, at) => instant(2n * HOUR * BigInt(at)));
  assert.equal(toMessageSpans(logger).length, 1, "a message every two hours");
});

test("the time behind a clock that jumped is split like a recording of its own", () => {
  const nights = [0n, 1n, 2n].map((day) => long(NOW + day * DAY, 10n * HOUR));
  assert.deepEqual(toMessageSpans([instant(60n * SECOND), ...nights]), [instant(60n * SECOND), ...nights]);
});

test("of more than 63 gaps the shortest are closed", () => {
  const days = Array.from({ length: 100 }, (_, at) => instant(NOW + BigInt(at * 100 + at) * DAY));
  const spans = toMessageSpans(days);
  assert.equal(spans.length, MAX_MESSAGE_SPANS);
  const notes = createSpanNotes();
  for (let at = 0n; at < 5000n; at += 1n) notes.note(at * at * DAY, at * at * DAY);
  assert.ok(notes.toSpans().length <= MAX_MESSAGE_SPANS);
  assert.deepEqual(notes.toSpans().at(-1)?.endNs, 4999n * 4999n * DAY);
});

test("a recording whose clock jumped has two spans by its chunk indexes, by its message indexes, and when all of it was read", async () => {
  assert.deepEqual(await bySummary(await makeClockJump()), jumpedSpans);
  assert.deepEqual((await byLook(await makeClockJump({ isIndexed: false }), "x.mcap"))?.spans, jumpedSpans);
  assert.deepEqual(await byIndexing(await makeClockJump(), "x.mcap"), jumpedSpans);
});

test("a recording whose clock jumped has them, too, if the clock jumped in the middle of a chunk", async () => {
  const whole = await makeClockJump({ chunkBytes: 1_000_000 });
  assert.deepEqual(await bySummary(whole), jumpedSpans);
  assert.deepEqual(await byIndexing(whole, "x.mcap"), jumpedSpans);
  const plain = await makeClockJump({ chunkBytes: 1_000_000, isIndexed: false });
  assert.deepEqual((await byLook(plain, "x.mcap"))?.spans, jumpedSpans);
  assert.deepEqual(await byIndexing(plain, "x.mcap"), jumpedSpans);
});

test("a recording whose clock jumped has them if the clock jumped back", async () => {
  for (const chunkBytes of [1, 1_000_000]) {
    const back = await makeClockJump({
      chunkBytes,
      messages: [...jumpedMessages.slice(60), ...jumpedMessages.slice(0, 60)],
    });
    assert.deepEqual(await bySummary(back), jumpedSpans);
    assert.deepEqual(await byIndexing(back, "x.mcap"), jumpedSpans);
  }
});

test("a recording whose clock jumped has every message in a span, wherever the clock jumped and however it is read", async () => {
  const steps = fc.array(
    fc.oneof(fc.bigInt({ min: -3n * HOUR, max: 3n * HOUR }), fc.bigInt({ min: -DAY, max: 900n * DAY })),
    {
      minLength: 1,
      maxLength: 100,
    },
  );
  const files = fc.record({ steps, chunkBytes: fc.constantFrom(1, 1000, 1_000_000), isIndexed: fc.boolean() });
  const holds = fc.asyncProperty(files, async ({ steps, ...file }) => {
    const messages = toMessages(steps);
    const bytes = await makeClockJump({ ...file, messages });
    const summaries = [await byLook(bytes, "x.mcap"), { spans: await byIndexing(bytes, "x.mcap") }];
    for (const { spans } of summaries.flatMap((summary) => summary ?? [])) {
      for (const { logTimeNs } of messages)
        assert.ok(!spans || spans.some((span) => holdsPart(span, instant(logTimeNs))), String(logTimeNs));
    }
  });
  await fc.assert(holds, { numRuns: propertyRuns(400) });
});

test("a recording whose clock jumped has no spans that its summary does not know: loose messages may be anywhere", async () => {
  const loose = await makeMcap({ topics: [slow], durationSeconds: 90_000, isChunked: false });
  assert.equal(await bySummary(loose), undefined);
  assert.equal((await byIndexing(loose, "x.mcap"))?.length, 5);
});

test("a recording whose clock jumped has spans in a bag, too, by its chunk infos, and when all of it was read", async () => {
  const spec = { topics: [slowBag], durationSeconds: 90_000, chunkBytes: 1 };
  const bag = await makeBag(spec);
  const spans = Array.from({ length: 5 }, (_, at) => instant(1_767_323_045n * SECOND + BigInt(at) * 5n * HOUR));
  assert.deepEqual((await byLook(bag, "x.bag"))?.spans, spans);
  assert.deepEqual(await byIndexing(bag, "x.bag"), spans);
});

test("the recording of the field whose clock jumped has two spans", { skip: skipWithout(field2Folder) }, async () => {
  const bytes = await readFile(join(field2Folder, "i_clock_jump.mcap"));
  assert.deepEqual(await bySummary(bytes), jumpedSpans);
  assert.deepEqual(await byIndexing(bytes, "x.mcap"), jumpedSpans);
});

const slow = { topic: "/slow", kind: "gps", rateHz: 1 / 18_000 } as const;
const slowBag = { topic: "/slow", type: "std_msgs/String", rateHz: 1 / 18_000 } as const;

async function bySummary(bytes: Uint8Array) {
  const found = await inspectSummary(bytesSource(bytes), { fileName: "x.mcap" });
  assert.equal(found?.summary.method, "index");
  return found.summary.spans;
}

async function byLook(bytes: Uint8Array, fileName: string): Promise<RecordingSummary | undefined> {
  const found = await inspectRecording(bytesSource(bytes), { fileName });
  return found.state === "finished" ? found.summary : undefined;
}

async function byIndexing(bytes: Uint8Array, fileName: string) {
  const indexed = await indexRecording(bytesSource(bytes), { fileName, write: async () => undefined });
  assert.equal(indexed.state, "finished");
  return indexed.summary.spans;
}

function toMessages(steps: readonly bigint[]) {
  let logTimeNs = NOW;
  return steps.map((step) => {
    logTimeNs += step;
    return { topic: "/imu", logTimeNs: logTimeNs < 0n ? 0n : logTimeNs, data: Buffer.alloc(40) };
  });
}

function instant(timeNs: bigint): MessageSpan {
  return { startNs: timeNs, endNs: timeNs };
}

function long(startNs: bigint, lengthNs: bigint): MessageSpan {
  return { startNs, endNs: startNs + lengthNs };
}

function holdsPart(span: MessageSpan, part: MessageSpan): boolean {
  return span.startNs <= part.startNs && part.endNs <= span.endNs;
}
