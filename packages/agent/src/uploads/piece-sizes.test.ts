import assert from "node:assert/strict";
import { test } from "node:test";
import { createPieceSizes } from "./piece-sizes.ts";

const MIN = 64 * 1024;
const PART = 16 * 1024 * 1024;

/** Makes a link with a rate and a delay, on which one request follows the other. */
function makeLink({ limit = Number.POSITIVE_INFINITY } = {}) {
  let nowMs = 1000;
  const sizes = createPieceSizes({ monotonicMs: () => nowMs }, () => limit);
  return {
    sizes,
    wait(ms: number) {
      nowMs += ms;
    },
    /** Returns the seconds that it took. */
    send(bytesPerSecond: number, { wayMs = 0, most = PART } = {}): number {
      const bytes = Math.min(most, sizes.mostBytes());
      const carrying = sizes.begin();
      const tookMs = wayMs + (bytes / bytesPerSecond) * 1000;
      nowMs += tookMs;
      carrying.confirmed(bytes);
      return tookMs / 1000;
    },
    lose(afterMs: number) {
      const carrying = sizes.begin();
      nowMs += afterMs;
      carrying.lost();
    },
  };
}

test("pieces begin with the shortest and grow until one takes eight seconds, at any rate below 1 MB/s", () => {
  for (const bytesPerSecond of [8000, 20_000, 64_000, 280_000, 900_000]) {
    const { sizes, send } = makeLink();
    assert.deepEqual([sizes.mostBytes(), sizes.isOneAtATime()], [MIN, true]);
    const seconds = Array.from({ length: 10 }, () => send(bytesPerSecond));
    assert.ok(Math.max(...seconds) <= 10, `${bytesPerSecond}: ${seconds}`);
    assert.ok(seconds.at(-1)! > 7 || sizes.mostBytes() === MIN, `${bytesPerSecond}: ${seconds}`);
    assert.equal(sizes.isOneAtATime(), bytesPerSecond < 279_620);
  }
});

test("from 1 MB/s on parts go whole after one request, with a long delay after a few", async () => {
  const near = makeLink();
  near.send(10_000_000, { wayMs: 2 });
  assert.deepEqual([near.sizes.mostBytes(), near.sizes.isOneAtATime()], [Number.POSITIVE_INFINITY, false]);
  await near.sizes.untilManyAtATime();
  const far = makeLink();
  let [requests, seconds] = [0, 0];
  for (; far.sizes.mostBytes() < PART; requests++) seconds += far.send(10_000_000, { wayMs: 600 });
  assert.ok(requests <= 4 && seconds < 4, `${requests} requests, ${seconds} s`);
});

test("short files say nothing of a quick link: parts stay whole", () => {
  const { sizes, send } = makeLink();
  send(10_000_000);
  for (const most of [10, 1000, 50_000, 200_000]) send(10_000_000, { wayMs: 400, most });
  assert.equal(sizes.mostBytes(), Number.POSITIVE_INFINITY);
});

test("a link that gets slow is noticed with the next part that is acknowledged, or lost", () => {
  for (const notice of ["acknowledged", "lost"]) {
    const { sizes, send, lose } = makeLink();
    send(10_000_000);
    if (notice === "acknowledged") send(500_000);
    else lose(40_000);
    assert.ok(sizes.mostBytes() <= 4_000_000);
    send(500_000);
    assert.ok(send(500_000) <= 10);
  }
});

test("after a cut pieces are shorter: a small share of the time for which the link holds", () => {
  const { sizes, send, lose, wait } = makeLink();
  for (let n = 0; n < 5; n++) send(640_000);
  wait(1000);
  lose(500);
  for (let cut = 0; cut < 6; cut++) {
    let seconds = 0;
    for (let last = 0; seconds + last < 4; seconds += last) last = send(640_000);
    lose(10);
    assert.ok(sizes.mostBytes() <= (640_000 * 4) / 4, `${sizes.mostBytes()}`);
  }
  assert.ok(sizes.mostBytes() >= MIN);
  for (let n = 0; n < 30; n++) send(640_000);
  assert.ok(sizes.mostBytes() > 640_000 * 5, "it holds again for long");
});

test("what is lost in one cut counts as one, and a quick link must hold a while before parts go whole again", () => {
  const { sizes, send, wait } = makeLink();
  send(10_000_000);
  const carried = [sizes.begin(), sizes.begin(), sizes.begin()];
  wait(4000);
  for (const one of carried) one.lost();
  assert.deepEqual([sizes.mostBytes(), sizes.isOneAtATime()], [MIN, true]);
  send(10_000_000);
  assert.ok(sizes.mostBytes() < PART);
  for (let n = 0; n < 40; n++) send(10_000_000);
  assert.equal(sizes.mostBytes(), Number.POSITIVE_INFINITY);
});

test("with several requests at a time the link's rate is the sum of theirs", () => {
  const { sizes, send, wait } = makeLink();
  send(2_000_000);
  const carried = Array.from({ length: 6 }, () => sizes.begin());
  wait(48_000);
  for (const one of carried) one.confirmed(PART);
  assert.equal(sizes.mostBytes(), Number.POSITIVE_INFINITY, "6 parts in 48 s are 2 MB/s");
});

test("a limit that is set is the rate of the link, also where it lets a burst through", () => {
  const { sizes, send } = makeLink({ limit: 100_000 });
  for (let n = 0; n < 5; n++) send(50_000_000);
  assert.ok(sizes.mostBytes() <= 800_000, String(sizes.mostBytes()));
  assert.equal(sizes.isOneAtATime(), true);
});
