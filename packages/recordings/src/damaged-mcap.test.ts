import assert from "node:assert/strict";
import { test } from "node:test";
import { damageMcap } from "./testing/damaged/damage-mcap.ts";
import { holdDamaged } from "./testing/damaged/hold-damaged.ts";
import { propertyRuns } from "./testing/property-runs.ts";
import { salvagePool } from "./testing/salvage-bytes.ts";

test("every message of a damaged MCAP file that a careful scan finds in a whole chunk is salvaged, by its own topic, and the survey says so", async () => {
  for (let seed = 1; seed <= propertyRuns(800); seed += 1) {
    const failure = await holdDamaged(damageMcap(seed), salvagePool);
    assert.equal(failure, undefined, `npm run fuzz:mcap -- --seed ${seed} --count 1 --damaged`);
  }
});
