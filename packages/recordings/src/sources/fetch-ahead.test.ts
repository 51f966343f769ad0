import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import fc from "fast-check";
import { createBlockMemory } from "../memory/block-memory.ts";
import { createLargeMemory } from "../memory/large-memory.ts";
import { eventually } from "../testing/eventually.ts";
import { coalesce } from "./coalesce.ts";
import { type DistantSource, fetchAhead } from "./fetch-ahead.ts";

interface Request {
  readonly start: number;
  readonly end: number;
  isOver: boolean;
}

/** Bytes behind a wire: it notes every request, and lets them go on when `go` is called. */
function openDistant(bytes: Uint8Array, { isHeld = false } = {}) {
  const requests: Request[] = [];
  const gate = Promise.withResolvers<void>();
  if (!isHeld) gate.resolve();
  async function* pieces(start: number, end: number, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
    const request = { start, end, isOver: false };
    requests.push(request);
    try {
      await gate.promise;
      for (let at = start; at < end; at += 100) {
        await setImmediate();
        signal?.throwIfAborted();
        yield bytes.subarray(at, Math.min(end, at + 100));
      }
    } finally {
      request.isOver = true;
    }
  }
  const distant: DistantSource = {
    sizeBytes: bytes.byteLength,
    async read(offset, length) {
      if (offset + length > bytes.byteLength) throw new RangeError("outside");
      return Buffer.concat(await Array.fromAsync(pieces(offset, offset + length)));
    },
    stream: ({ start, endInclusive }, signal) => pieces(start, endInclusive + 1, signal),
  };
  return { distant, requests, go: gate.resolve, countUnderWay: () => requests.filter(({ isOver }) => !isOver).length };
}

const limits = { blockBytes: 1000, gapBytes: 50, aheadBytes: 3000, aheadBlocks: 4 };
const data = randomBytes(20_000);

test("neighbours become one extent, and what is long is cut, with not a byte left out", () => {
  const rangesOf = fc.array(fc.tuple(fc.nat(5000), fc.nat(3000)), { maxLength: 30 });
  fc.assert(
    fc.property(rangesOf, (drawn) => {
      const ranges = drawn.map(([start, length]) => ({ start, end: start + length }));
      const extents = [...coalesce(ranges, { mostBytes: 1000, gapBytes: 50 })];
      const wanted = extents.reduce((sum, { wantedBytes }) => sum + wantedBytes, 0);
      assert.equal(
        wanted,
        ranges.reduce((sum, { start, end }) => sum + end - start, 0),
      );
      for (const { start, end, wantedBytes } of extents) {
        assert.ok(end - start <= 1000);
        assert.ok(wantedBytes <= end - start);
      }
      for (const { start, end } of ranges)
        for (let at = start; at < end; at += 1) assert.ok(extents.some((each) => each.start <= at && at < each.end));
    }),
  );
  const near = [
    { start: 0, end: 100 },
    { start: 130, end: 200 },
    { start: 300, end: 2400 },
  ];
  assert.deepEqual(
    [...coalesce(near, { mostBytes: 1000, gapBytes: 50 })],
    [
      { start: 0, end: 200, wantedBytes: 170 },
      { start: 300, end: 1300, wantedBytes: 1000 },
      { start: 1300, end: 2300, wantedBytes: 1000 },
      { start: 2300, end: 2400, wantedBytes: 100 },
    ],
  );
});

test("whatever was announced and whatever is read, the bytes are those of the source, and all memory is given back", async () => {
  const ranges = fc.array(fc.tuple(fc.nat(19_000), fc.nat(900)), { maxLength: 12 });
  const blocks = createBlockMemory({ leastBytes: 1 }); // the bytes of one run lie in it when the next one begins
  await fc.assert(
    fc.asyncProperty(fc.array(ranges, { maxLength: 3 }), ranges, fc.nat(6000), async (announced, reads, budget) => {
      const memory = createLargeMemory(budget);
      const { distant } = openDistant(data);
      using source = fetchAhead(distant, { memory, blocks, limits });
      for (const each of announced) source.expect!(each.map(([start, length]) => ({ start, end: start + length })));
      const all = [...reads, ...announced.flat()];
      const found = await Promise.all(all.map(([offset, length]) => source.read(offset, length)));
      for (const [index, [offset, length]] of all.entries())
        assert.ok(data.subarray(offset, offset + length).equals(found[index]!));
      source[Symbol.dispose]();
      (await memory.take(budget, undefined))[Symbol.dispose]();
    }),
  );
});

test("announced neighbours come by few requests, each byte once, and a bounded number ahead of the reader", async () => {
  const { distant, requests, go, countUnderWay } = openDistant(data, { isHeld: true });
  using source = fetchAhead(distant, { memory: createLargeMemory(1_000_000), limits });
  const ranges = Array.from({ length: 100 }, (_, index) => ({ start: index * 200, end: index * 200 + 190 }));
  source.expect!(ranges);
  assert.equal(countUnderWay(), 3);
  go();
  for (const [index, { start, end }] of ranges.entries()) {
    assert.ok(data.subarray(start, end).equals(await source.read(start, end - start)));
    assert.ok(requests.length <= Math.floor(index / 5) + 4, `${requests.length} requests after ${index + 1} reads`);
  }
  assert.equal(requests.length, 20);
  assert.equal(
    requests.reduce((sum, { start, end }) => sum + end - start, 0),
    19_800,
  );
});

test("without memory that is free nothing is fetched ahead, and everything is read all the same, once", async () => {
  const memory = createLargeMemory(3000);
  const { distant, requests } = openDistant(data);
  using source = fetchAhead(distant, { memory, limits });
  const turn = await memory.take(3000, undefined);
  source.expect!([{ start: 0, end: 6000 }]);
  assert.equal(requests.length, 0);
  for (let at = 0; at < 3000; at += 500) await source.read(at, 500);
  assert.equal(requests.length, 6);
  turn[Symbol.dispose]();
  for (let at = 3000; at < 6000; at += 500) assert.ok(data.subarray(at, at + 500).equals(await source.read(at, 500)));
  assert.ok(requests.length < 12);
  assert.equal(
    requests.reduce((sum, { start, end }) => sum + end - start, 0),
    6000,
  );
});

test("a reader that needs the memory gets it at once, and what was given up for it is read again", async () => {
  const memory = createLargeMemory(3000);
  const { distant, requests, countUnderWay } = openDistant(data);
  using source = fetchAhead(distant, { memory, limits });
  source.expect!([{ start: 0, end: 3000 }]);
  await setImmediate();
  assert.equal(countUnderWay(), 3);
  using _turn = await memory.take(3000, undefined);
  await eventually(countUnderWay, (count) => count === 0);
  assert.ok(data.subarray(0, 3000).equals(await source.read(0, 3000)));
  assert.deepEqual(
    requests.slice(3).map(({ start, end }) => [start, end]),
    [[0, 3000]],
  );
});

test("memory that was lent to one who does not use it is lent to another after a second", () => {
  let nowMs = 0;
  const memory = createLargeMemory(1000, () => nowMs);
  let first: Disposable | undefined;
  first = memory.lend(600, () => first![Symbol.dispose]());
  assert.ok(first);
  assert.equal(
    memory.lend(600, () => {}),
    undefined,
  );
  nowMs = 1001;
  assert.ok(memory.lend(600, () => {}));
});

test("a failure is thrown to the reader of the range that failed, and closing ends every request", async () => {
  const memory = createLargeMemory(10_000);
  const { distant, countUnderWay } = openDistant(data);
  const broken: DistantSource = {
    ...distant,
    async *stream(range, signal) {
      if (range.start >= 1000) throw new Error("the bucket is gone");
      yield* distant.stream(range, signal);
    },
  };
  const source = fetchAhead(broken, { memory, limits });
  source.expect!([{ start: 0, end: 5000 }]);
  assert.ok(data.subarray(0, 1000).equals(await source.read(0, 1000)));
  await assert.rejects(source.read(900, 300), /bucket is gone/);
  source[Symbol.dispose]();
  await eventually(countUnderWay, (count) => count === 0);
  await assert.rejects(source.read(19_999, 2), RangeError);
});
