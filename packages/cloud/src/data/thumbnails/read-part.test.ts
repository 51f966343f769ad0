import assert from "node:assert/strict";
import { test } from "node:test";
import { instantsOf } from "./read-part.ts";

const about = { id: "rec_1", orgId: "org_1", topics: [] };
const timesOf = (...given: Parameters<typeof instantsOf>) => instantsOf(...given).map(({ startNs }) => startNs);

test("parts are equal, end with the recording, and long gaps count as no time", () => {
  const whole = { ...about, startNs: 0n, endNs: 100n, spans: [] };
  assert.deepEqual(timesOf(whole, 4), [25n, 50n, 75n, 100n]);
  const spans = [
    { startNs: 0n, endNs: 10n },
    { startNs: 1000n, endNs: 1030n },
  ];
  const gapped = { ...about, startNs: 0n, endNs: 1030n, spans };
  assert.deepEqual(timesOf(gapped, 4), [10n, 1010n, 1020n, 1030n]);
  assert.deepEqual(
    instantsOf(gapped, 4).map(({ lookbackNs }) => lookbackNs),
    [11n, 11n, 11n, 11n],
  );
  assert.deepEqual(timesOf({ ...whole, endNs: 0n }, 4), [0n]);
});
