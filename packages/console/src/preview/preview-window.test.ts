import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { firstWindow, move, widen } from "./preview-window.ts";

const S = 1_000_000_000n;

test("twenty seconds from the first message are shown first", () => {
  const recording = { startNs: 100n * S, endNs: 800n * S };
  assert.deepEqual(firstWindow(recording, undefined), { startNs: 100n * S, endNs: 120n * S });
  assert.deepEqual(firstWindow(recording, 790n * S), { startNs: 790n * S, endNs: 800n * S });
});

test("however a window is widened and moved, it lies within the recording, and wide enough shows all", () => {
  const steps = fc.array(fc.constantFrom("widen", "left", "right"), { maxLength: 12 });
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 14n }), steps, (length, list) => {
      const recording = { startNs: 5n, endNs: 5n + length };
      let window = firstWindow(recording, undefined);
      for (const step of list)
        window = step === "widen" ? widen(window, recording) : move(window, recording, step === "left" ? -1n : 1n);
      assert.ok(
        recording.startNs <= window.startNs && window.startNs <= window.endNs && window.endNs <= recording.endNs,
      );
      for (let times = 0; times < 10; times += 1) window = widen(window, recording);
      assert.deepEqual(window, recording);
    }),
  );
});
