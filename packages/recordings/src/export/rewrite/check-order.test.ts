import assert from "node:assert/strict";
import { test } from "node:test";
import { McapRecordBuilder } from "@mcap/core";
import fc from "fast-check";
import { createOrderCheck } from "./check-order.ts";

interface Message {
  channelId: number;
  timeNs: bigint;
  sizeBytes: number;
}

const message: fc.Arbitrary<Message> = fc.record({
  channelId: fc.integer({ min: 0, max: 3 }),
  timeNs: fc.bigInt({ min: 5n, max: 9n }).map((time) => time * 1_000_000_000_000_000n),
  sizeBytes: fc.integer({ min: 31, max: 700 }),
});

/** The message indexes of a chunk that holds nothing else. */
function indexesOf(messages: readonly Message[]): { indexes: Uint8Array; uncompressedBytes: number } {
  const builder = new McapRecordBuilder();
  const byChannel = new Map<number, [bigint, bigint][]>();
  let offset = 0;
  for (const { channelId, timeNs, sizeBytes } of messages) {
    const records = byChannel.get(channelId) ?? [];
    byChannel.set(channelId, records);
    records.push([timeNs, BigInt(offset)]);
    offset += sizeBytes;
  }
  for (const [channelId, records] of byChannel) builder.writeMessageIndex({ channelId, records });
  return { indexes: builder.buffer, uncompressedBytes: offset };
}

test("indexes prove the order of a chunk exactly when its messages are in order and fill its span", () => {
  const check = createOrderCheck();
  fc.assert(
    fc.property(fc.array(message, { minLength: 1, maxLength: 40 }), fc.boolean(), (unsorted, isSorted) => {
      const messages = isSorted ? unsorted.toSorted((a, b) => Number(a.timeNs - b.timeNs)) : unsorted;
      const times = messages.map(({ timeNs }) => timeNs);
      const sorted = times.toSorted((a, b) => Number(a - b));
      const [startNs, endNs] = [sorted[0]!, sorted.at(-1)!];
      const { indexes, uncompressedBytes } = indexesOf(messages);
      const isInOrder = times.every((time, index) => index === 0 || time >= times[index - 1]!);
      const found = check(indexes, { startNs, endNs, uncompressedBytes });
      assert.equal(found !== undefined, isInOrder);
      const counts = found?.map(({ channelId, messageCount }) => [channelId, messageCount]);
      const expected = Map.groupBy(messages, ({ channelId }) => channelId);
      if (isInOrder)
        assert.deepEqual(
          counts,
          Array.from(expected, ([channelId, list]) => [channelId, list.length]),
        );
      assert.equal(check(indexes, { startNs: startNs - 1n, endNs, uncompressedBytes }), undefined);
      assert.equal(check(indexes, { startNs, endNs: endNs + 1n, uncompressedBytes }), undefined);
    }),
    { numRuns: 300 },
  );
});

test("indexes that are cut, lie about offsets or are no indexes prove nothing", () => {
  const check = createOrderCheck();
  const messages = [1n, 2n, 3n].map((timeNs) => ({ channelId: 1, timeNs, sizeBytes: 40 }));
  const { indexes, uncompressedBytes } = indexesOf(messages);
  const chunk = { startNs: 1n, endNs: 3n, uncompressedBytes };
  assert.ok(check(indexes, chunk));
  assert.equal(check(indexes, { ...chunk, uncompressedBytes: 100 }), undefined);
  assert.equal(check(indexes.slice(0, -1), chunk), undefined);
  assert.equal(check(indexes.with(0, 8), chunk), undefined);
  assert.equal(check(new Uint8Array(0), chunk), undefined);
  const twice = [...messages, { channelId: 1, timeNs: 3n, sizeBytes: 0 }];
  const overlapping = indexesOf(twice.map((each, index) => ({ ...each, sizeBytes: index === 2 ? 0 : 40 })));
  assert.equal(check(overlapping.indexes, { ...chunk, uncompressedBytes: 120 }), undefined);
});
