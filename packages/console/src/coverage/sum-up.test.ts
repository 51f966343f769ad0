import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { binsOf, formatShare } from "./sum-up.ts";

test("a span is covered by as few bins as a number allows, to less than a nanosecond a bin too much", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 2n ** 62n }), (lengthNs) => {
      const { start, binNs, bins } = binsOf({ startNs: 5n, endNs: 5n + lengthNs });
      assert.ok(Number.isSafeInteger(binNs) && bins >= 1);
      const covered = BigInt(binNs) * BigInt(bins);
      assert.ok(start === 5n && covered >= lengthNs && covered - lengthNs < BigInt(bins));
    }),
  );
});

test("a little is not nothing, and almost all is not all", () => {
  assert.deepEqual(
    [0, 0.1, 1, 50.4, 99.5, 100].map((part) => formatShare(part, 100)),
    ["0 %", "< 1 %", "1 %", "50 %", "> 99 %", "100 %"],
  );
});
