import assert from "node:assert/strict";
import { test } from "node:test";
import { crashAt } from "./crash-points.ts";
import { openFaultBed } from "./fault-bed.ts";

/** The points at which a crash separates most; `npm run faults` tries every step of a life, and kills at any instant. */
const chosen = ["after part #1", "after call /v1/edge/imports/{requestId}/upload/{uploadId}/complete #1"];

test("an agent that is killed between two durable steps continues where it was: each file is one recording, stored once, and nothing is stuck", async () => {
  await using bed = await openFaultBed();
  const crashes = await Promise.all(chosen.map((point) => crashAt(bed, point)));
  assert.deepEqual(crashes, ["killed", "killed"]);
});
