import assert from "node:assert/strict";
import { test } from "node:test";
import { describeEstimate, describeOthers, sumEstimates } from "./describe-estimate.ts";
import type { PlannedPart } from "./plan-parts.ts";

const SECOND = 1_000_000_000n;
const part = (deviceId: string, seconds: bigint, topics = ["/a", "/b"]): PlannedPart => ({
  whole: { id: "rec_1", start: 0n, end: 60n * SECOND, device: { id: deviceId, name: deviceId } },
  topics,
  startNs: 0n,
  endNs: seconds * SECOND,
  isWhole: false,
});
const estimate = (bytes: number, seconds?: number) => ({ bytes, messageCount: 10, isRough: false, seconds });
const describe = (parts: readonly PlannedPart[], estimates: readonly ReturnType<typeof estimate>[]) =>
  describeEstimate(parts, sumEstimates(parts, estimates));

test("an estimate says how long the part is, its topics, its bytes, and the time that it takes", () => {
  const one = [part("rover", 40n, ["/a", "/b", "/c", "/d"])];
  assert.equal(
    describe(one, [estimate(12_100_000, 49.2)]),
    "40 s of 4 topics, about 12 MB, 50 s at the device's last rate.",
  );
  assert.equal(describe(one, [estimate(500)]), "40 s of 4 topics, about 500 B.", "nothing was uploaded lately");
  assert.match(
    describe(one, [{ ...estimate(500), isRough: true }]),
    /about 500 B\. This is a rough estimate, because the sizes of the topics are not known\.$/,
  );
});

test("a device sends its parts one after another, and several devices send at the same time", () => {
  const parts = [part("rover", 10n), part("rover", 10n), part("picker", 10n, ["/b", "/c"])];
  const estimates = [estimate(1000, 20), estimate(1000, 20), estimate(1000, 30)];
  assert.equal(
    describe(parts, estimates),
    "30 s of 3 topics in 3 recordings, about 3.0 kB, 40 s at the devices' last rates.",
  );
  assert.equal(sumEstimates(parts, [...estimates.slice(0, 2), estimate(1000)]).seconds, undefined, "one is not known");
});

test("where all of it is here or on its way there is nothing to send", () => {
  const parts = [part("rover", 10n)];
  const none = { bytes: 0, messageCount: 0, isRough: false };
  assert.equal(
    describeEstimate(parts, sumEstimates(parts, [none])),
    "Nothing to send: all of it is here, or on its way.",
  );
});

test("recordings that are not cut are named, and say why", () => {
  const whole = { ...part("rover", 60n), isWhole: true };
  assert.equal(describeOthers([part("rover", 10n)], 0), "");
  assert.equal(describeOthers([whole], 0), "This is all of the recording, which is imported whole.");
  assert.equal(
    describeOthers([whole, part("rover", 10n)], 2),
    "One recording is imported whole, because all of it is wanted. The topics of 2 recordings are not known: import them whole.",
  );
});
