import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { test } from "node:test";
import { propertyRuns, seededRandom } from "@downlink/recordings/testing";
import { startCloud } from "../../testing/start-cloud.ts";
import { createRunningClock } from "../../testing/test-clock.ts";
import { surviveDamage } from "../testing/damage-model.ts";

/** Each takes a fifth of a second, and a process that says nothing for 400 s is ended. */
const ROUNDS = 600;

test("whatever is damaged in the store, each content that was acknowledged is whole at its device or in the store, and is repaired", async (t) => {
  const seed = Number(process.env.DAMAGE_SEED ?? randomInt(2 ** 31));
  const clock = createRunningClock();
  const cloud = await startCloud(t, { clock });
  const rounds = propertyRuns(ROUNDS);
  try {
    const counts = await surviveDamage(cloud, clock, { random: seededRandom(seed), rounds });
    t.diagnostic(`seed ${seed}: ${[...counts].map(([what, times]) => `${what} ${times}`).join(", ")}`);
    assert.ok(rounds < ROUNDS || [...counts.values()].every((times) => times > ROUNDS / 100));
  } catch (error) {
    throw new Error(`with DAMAGE_SEED=${seed}: ${(error as Error).message}`, { cause: error });
  }
});
