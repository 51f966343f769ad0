import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { bytesSource } from "@downlink/recordings";
import { eventually, makeBag, makeMcap, slowTest } from "@downlink/recordings/testing";
import fc from "fast-check";
import { openFileIndexer } from "./file-indexer.ts";
import { type StreamedReader, streamSource } from "./stream-source.ts";

const KiB = 1024;
const never = new AbortController().signal;

interface Request {
  readonly kind: "read" | "stream";
  readonly start: number;
  sentBytes: number;
  isOver: boolean;
}

/** Bytes in a bucket, which notes each request. */
function openCounted(bytes: Uint8Array): StreamedReader & { requests: Request[] } {
  const requests: Request[] = [];
  const begin = (kind: Request["kind"], start: number): Request => {
    const request = { kind, start, sentBytes: 0, isOver: false };
    requests.push(request);
    return request;
  };
  return {
    requests,
    sizeBytes: bytes.byteLength,
    async read(offset, length) {
      begin("read", offset).sentBytes = length;
      return await bytesSource(bytes).read(offset, length);
    },
    async *stream({ start, endInclusive } = { start: 0, endInclusive: bytes.byteLength - 1 }, signal) {
      const request = begin("stream", start);
      try {
        for (let at = start; at <= endInclusive; at += 50_001) {
          await setImmediate();
          signal?.throwIfAborted();
          const piece = bytes.subarray(at, Math.min(at + 50_001, endInclusive + 1));
          request.sentBytes += piece.byteLength;
          yield piece;
        }
      } finally {
        request.isOver = true;
      }
    },
  };
}

test("whatever is read in whatever order, the bytes are those of the object", async () => {
  const bytes = randomBytes(3_000_000);
  const places = fc.tuple(fc.nat(bytes.byteLength - 1), fc.nat(500_000));
  await fc.assert(
    fc.asyncProperty(fc.array(places, { maxLength: 10 }), fc.boolean(), async (reads, isAtOnce) => {
      using source = streamSource(openCounted(bytes));
      const read = async ([offset, length]: [number, number]) => {
        const end = Math.min(offset + length, bytes.byteLength);
        assert.ok(bytes.subarray(offset, end).equals(await source.read(offset, end - offset)));
      };
      if (isAtOnce) await Promise.all(reads.map(read));
      else for (const each of reads) await read(each);
    }),
    { numRuns: 50 },
  );
});

test("what is read in order with small gaps is one request, and no other is open once it is disposed of", async () => {
  const counted = openCounted(randomBytes(9_000_000));
  const source = streamSource(counted);
  for (let at = 0; at + 512 * KiB < 4_000_000; at += 600 * KiB) await source.read(at, 512 * KiB);
  assert.deepEqual(
    counted.requests.map(({ kind, start }) => [kind, start]),
    [["stream", 0]],
  );
  source[Symbol.dispose]();
  await eventually(() => counted.requests[0]!.isOver, Boolean);
  assert.ok(counted.requests[0]!.sentBytes < 5_000_000);
});

slowTest("a file is indexed by one streamed request and at most four others, whatever its format", async () => {
  await using indexer = openFileIndexer();
  const attachments = [{ name: "map.bin", data: randomBytes(3_000_000) }];
  const files = {
    "chunked.mcap": await makeMcap({ durationSeconds: 60, attachments }),
    "loose.mcap": await makeMcap({ durationSeconds: 60, isChunked: false }),
    "unindexed.mcap": await makeMcap({ durationSeconds: 60, isIndexed: false }),
    "small.mcap": await makeMcap({ durationSeconds: 1 }),
    "a.bag": await makeBag({ durationSeconds: 60 }),
  };
  for (const [fileName, bytes] of Object.entries(files)) {
    const counted = openCounted(bytes);
    const kept: Uint8Array[] = [];
    const store = async (pieces: AsyncIterable<Uint8Array>) => void kept.push(...(await Array.fromAsync(pieces)));
    const streamed = await indexer.index(counted, { fileName, signal: never, store });
    const streamedIndex = Buffer.concat(kept.splice(0));
    const whole = await indexer.index(bytesSource(bytes), { fileName, signal: never, store });
    assert.deepEqual(streamed, whole);
    assert.ok(streamedIndex.equals(Buffer.concat(kept)));
    const streams = counted.requests.filter(({ kind }) => kind === "stream");
    assert.ok(streams.length <= 1, `${fileName}: ${streams.length} streams`);
    assert.ok(counted.requests.length - streams.length <= 4, `${fileName}: ${counted.requests.length} requests`);
    const sentBytes = counted.requests.reduce((sum, request) => sum + request.sentBytes, 0);
    assert.ok(sentBytes <= bytes.byteLength + 2 * 1024 * KiB, `${fileName}: ${sentBytes} of ${bytes.byteLength} bytes`);
    await eventually(() => streams.every(({ isOver }) => isOver), Boolean);
  }
});
