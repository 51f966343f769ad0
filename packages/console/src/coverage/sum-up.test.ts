import assert from "node:assert/strict";
import { test } from "node:test";
import { bulkLimits, MAX_SELECTED_DEVICES } from "@downlink/protocol";
import fc from "fast-check";
import { shownParts } from "./shown.ts";
import { binsOf, type DeviceSums, formatShare, packDevices, wantedOf, wantedStatuses } from "./sum-up.ts";

const ALL = shownParts([]);

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

test("calls for imports name all devices that have anything to import, each once, and match no more than a call may", () => {
  const wanted = fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 4000 }), fc.constant(bulkLimits.matches + 1));
  fc.assert(
    fc.property(fc.array(wanted, { maxLength: 500 }), (counts) => {
      const given = counts.map((recordings, at) => sumsWith(`dev_${at}`, recordings));
      const calls = packDevices(given, ALL);
      const countOf = (ids: readonly string[]) =>
        wantedOf(
          given.filter(({ id }) => ids.includes(id)),
          ALL,
        ).count;
      assert.deepEqual(
        calls.flat(),
        given.filter((sums) => wantedOf([sums], ALL).count > 0).map(({ id }) => id),
      );
      // A device that has more than a call may match is alone: the service refuses its call with a sentence.
      assert.ok(calls.every((ids) => ids.length === 1 || countOf(ids) <= bulkLimits.matches));
      assert.ok(calls.every(({ length }) => length <= MAX_SELECTED_DEVICES));
    }),
  );
});

test("what is hidden is not imported", () => {
  const given = [sumsWith("dev_1", 11)];
  const { count, bytes } = wantedOf(given, shownParts(["failed"]));
  assert.deepEqual([count, wantedStatuses(shownParts(["failed"]))], [6, ["none"]]);
  assert.ok(bytes <= wantedOf(given, ALL).bytes);
  assert.deepEqual(packDevices(given, shownParts(["failed", "edgeOnly"])), []);
});

function sumsWith(id: string, recordings: number): DeviceSums {
  const none = { recordings: 0, bytes: 0n };
  const failed = Math.floor(recordings / 2);
  return {
    id,
    coveredSeconds: 0,
    failed: { ...none, recordings: failed },
    edgeOnly: { ...none, recordings: recordings - failed },
    onItsWay: { ...none, recordings: 7 },
    imported: { ...none, recordings: 7 },
  } as unknown as DeviceSums;
}
