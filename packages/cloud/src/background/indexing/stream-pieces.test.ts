import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { streamPieces } from "./stream-pieces.ts";

/** Makes pieces of one byte: 0, 1, 2… */
function counting(until: number) {
  const seen = { made: 0, isOver: false, stopped: undefined as AbortSignal | undefined };
  const pieces = streamPieces(async (take, stopped) => {
    seen.stopped = stopped;
    try {
      for (; seen.made < until && !stopped.aborted; seen.made += 1) await take(Uint8Array.of(seen.made));
    } finally {
      await setImmediate();
      seen.isOver = true;
    }
  });
  return { seen, pieces };
}

test("pieces come in order, and are made no faster than they are taken", async () => {
  const { seen, pieces } = counting(100);
  await setImmediate();
  assert.equal(seen.made, 0, "nobody asked yet");
  const taken: number[] = [];
  for await (const [byte] of pieces) {
    taken.push(byte!);
    for (let turn = 0; turn < 5; turn++) await setImmediate();
    assert.ok(seen.made <= taken.length + 2, `${seen.made} made, ${taken.length} taken`);
  }
  assert.deepEqual(
    taken,
    Array.from({ length: 100 }, (_, i) => i),
  );
});

test("a consumer that stops early ends the making, and continues once that has ended", async () => {
  const { seen, pieces } = counting(Number.POSITIVE_INFINITY);
  for await (const _piece of pieces) break;
  assert.ok(seen.stopped!.aborted && seen.isOver);
});

test("an error of the making is thrown after the pieces that it gave", async () => {
  const pieces = streamPieces(async (take) => {
    await take(Uint8Array.of(7));
    throw new Error("EIO");
  });
  const taken: Uint8Array[] = [];
  const all = (async () => {
    for await (const piece of pieces) taken.push(piece);
  })();
  await assert.rejects(all, /EIO/);
  assert.ok(taken.length <= 1);
});
