import assert from "node:assert/strict";
import { test } from "node:test";
import { crashAt, listCrashPoints } from "./crash-points.ts";
import { openFaultBed } from "./fault-bed.ts";
import { surviveFaults } from "./random-faults.ts";

/** Where a crash tears most apart; `npm run faults` tries all of them. */
const chosen = [
  "before inventory delivered #1",
  "after part #1",
  "after call /v1/edge/imports/{requestId}/upload/{uploadId}/complete #1",
  "before inventory confirm #1",
];

test("an agent that is killed between two durable steps goes on where it was: one recording a file, stored once, nothing stuck", async (t) => {
  await using bed = await openFaultBed();
  const points = await listCrashPoints(bed);
  assert.ok(points.length > 80, `only ${points.length} durable steps were told of`);
  const crash = async (point: string) => {
    assert.ok(points.includes(point), `there is no step ${point}`);
    assert.equal(await crashAt(bed, point), "killed", point);
  };
  await Promise.all(
    [chosen.slice(0, 2), chosen.slice(2)].map(async ([one, other]) => {
      await crash(one!);
      await crash(other!);
    }),
  );
  await t.test(
    "and so does one that is killed and cut off at any instant, with a control plane that is killed too",
    async () => {
      /** Pauses and choices in turn: an agent killed, links cut, a control plane killed, its Postgres killed. */
      const chances = [0.4, 0.1, 0.5, 0.8, 0.6, 0.93, 0.9, 0.97];
      let next = 0;
      const { faults } = await surviveFaults(bed, () => chances[next++ % chances.length]!);
      assert.ok(faults.length > 0);
    },
  );
});
