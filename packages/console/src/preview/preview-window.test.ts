import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { firstWindow, move, moveTo, widen } from "./preview-window.ts";

const S = 1_000_000_000n;

test("twenty seconds from the first message are shown first", () => {
  const recording = { startNs: 100n * S, endNs: 800n * S };
  assert.deepEqual(firstWindow(recording, undefined), { startNs: 100n * S, endNs: 120n * S });
  assert.deepEqual(firstWindow(recording, 790n * S), { startNs: 790n * S, endNs: 800n * S });
});

test("however a window is widened and moved, it lies within the recording, and wide enough shows all", () => {
  const steps = fc.array(fc.constantFrom("widen", "left", "right", "begin", "end"), { maxLength: 12 });
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 14n }), steps, (length, list) => {
      const recording = { startNs: 5n, endNs: 5n + length };
      let window = firstWindow(recording, undefined);
      const act: Record<string, (from: typeof window) => typeof window> = {
        widen: (from) => widen(from, recording),
        left: (from) => move(from, recording, -1n),
        right: (from) => move(from, recording, 1n),
        begin: (from) => moveTo(from, recording, recording.startNs),
        end: (from) => moveTo(from, recording, recording.endNs),
      };
      for (const step of list) window = act[step]!(window);
      assert.ok(
        recording.startNs <= window.startNs && window.startNs <= window.endNs && window.endNs <= recording.endNs,
      );
      for (let times = 0; times < 10; times += 1) window = widen(window, recording);
      assert.deepEqual(window, recording);
    }),
  );
});

test("a window is moved to a moment, which is then in its middle", () => {
  const recording = { startNs: 0n, endNs: 800n * S };
  const window = { startNs: 10n * S, endNs: 30n * S };
  assert.deepEqual(moveTo(window, recording, 400n * S), { startNs: 390n * S, endNs: 410n * S });
});
