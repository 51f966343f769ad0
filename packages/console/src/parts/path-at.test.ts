import assert from "node:assert/strict";
import { test } from "node:test";
import { pathAt } from "./path-at.ts";

const SECOND_NS = 1_000_000_000n;
const recording = { id: "rec_1", projectId: "prj_1", start: 10n * SECOND_NS, end: 70n * SECOND_NS };

/** The parameters of the address, in seconds. */
function paramsAt(seconds: number) {
  const path = pathAt(recording, { topic: "/front", timeNs: BigInt(seconds) * SECOND_NS });
  const [page, search] = path.split("?");
  assert.equal(page, "/p/prj_1/recordings/rec_1");
  const params = new URLSearchParams(search);
  assert.equal(params.get("topics"), "/front");
  return ["from", "at", "to"].map((name) => (params.has(name) ? Date.parse(params.get(name)!) / 1000 : undefined));
}

test("a link leads to a moment with some time around it, and never beyond the recording", () => {
  assert.deepEqual(paramsAt(30), [28, 30, 32]);
  assert.deepEqual(paramsAt(11), [10, 11, 13]);
  assert.deepEqual(paramsAt(69), [67, 69, undefined]);
  assert.deepEqual(
    [paramsAt(0), paramsAt(99)],
    [
      [10, 10, 12],
      [68, 70, undefined],
    ],
  );
});
