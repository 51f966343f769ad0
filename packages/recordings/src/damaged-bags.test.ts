import assert from "node:assert/strict";
import { test } from "node:test";
import { damageBag } from "./testing/damaged/damage-bag.ts";
import { holdDamaged } from "./testing/damaged/hold-damaged.ts";
import { propertyRuns } from "./testing/property-runs.ts";
import { salvagePool } from "./testing/salvage-bytes.ts";

test("every message of a damaged bag that a careful scan finds in a whole chunk is salvaged, and none is invented", async () => {
  for (let seed = 1; seed <= propertyRuns(400); seed += 1) {
    const bag = await damageBag(seed);
    assert.equal(await holdDamaged(bag, salvagePool), undefined, `npm run fuzz:bag -- --seed ${seed} --count 1`);
  }
});
