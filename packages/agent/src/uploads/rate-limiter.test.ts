import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { createStoppedClock } from "../testing/test-clock.ts";
import { createRateLimiter, type RateLimiter } from "./rate-limiter.ts";

const STEP_MS = 10;
const never = new AbortController().signal;

/** Makes a clock that moves only when the test says so, by ten milliseconds at a time. */
function stoppedClock(t: TestContext) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const clock = createStoppedClock(1000);
  return {
    ...clock,
    async pass(ms: number) {
      for (let passed = 0; passed < ms; passed += STEP_MS) {
        await setImmediate();
        clock.atMs += STEP_MS;
        t.mock.timers.tick(STEP_MS);
        await setImmediate();
      }
    },
  };
}

/** Sends bytes through the limiter and notes how many passed. */
function send(limiter: RateLimiter, bytes: number, signal = never) {
  const sent = { bytes: 0, isOver: false, failure: undefined as unknown };
  const work = async () => {
    for await (const piece of limiter.pace(blocks(bytes), signal)) sent.bytes += piece.byteLength;
    sent.isOver = true;
  };
  work().catch((failure: unknown) => {
    sent.failure = failure;
  });
  return sent;
}

async function* blocks(bytes: number): AsyncGenerator<Uint8Array> {
  for (let left = bytes; left > 0; left -= 256 * 1024) yield new Uint8Array(Math.min(left, 256 * 1024));
}

test("all transfers together keep to the limit, smoothly and each with its share", async (t) => {
  const clock = stoppedClock(t);
  const limiter = createRateLimiter(() => 1_000_000, clock);
  const transfers = [1, 2, 3].map(() => send(limiter, 2_000_000));
  const total = () => transfers.reduce((sum, { bytes }) => sum + bytes, 0);
  for (let second = 1; second <= 5; second++) {
    const before = total();
    await clock.pass(1000);
    const went = total() - before;
    assert.ok(went > 800_000 && went < 1_500_000, `${went} bytes in second ${second}`);
  }
  for (const { bytes } of transfers) assert.ok(bytes > 1_200_000, `one has only ${bytes}`);
  await clock.pass(2000);
  assert.ok(transfers.every(({ isOver }) => isOver));
});

test("a new limit holds within a second, also from and to a pause and without any", async (t) => {
  const clock = stoppedClock(t);
  let rate = 100_000;
  const sent = send(
    createRateLimiter(() => rate, clock),
    50_000_000,
  );
  await clock.pass(1000);
  rate = 0;
  await clock.pass(500);
  const atPause = sent.bytes;
  await clock.pass(5000);
  assert.equal(sent.bytes, atPause);
  rate = 10_000_000;
  await clock.pass(1000);
  assert.ok(sent.bytes > 5_000_000, `only ${sent.bytes} after the pause`);
  rate = Number.POSITIVE_INFINITY;
  await clock.pass(500);
  assert.ok(sent.isOver);
});

test("a transfer that waits for the limit stops when its signal is aborted", async (t) => {
  const clock = stoppedClock(t);
  const stop = new AbortController();
  const limiter = createRateLimiter(() => 1000, clock);
  const sent = send(limiter, 1_000_000, stop.signal);
  await clock.pass(1000);
  stop.abort();
  await clock.pass(STEP_MS);
  assert.equal((sent.failure as Error).name, "AbortError");
});
