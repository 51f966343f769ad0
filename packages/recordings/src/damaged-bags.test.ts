import assert from "node:assert/strict";
import { test } from "node:test";
import { damageBag } from "./testing/damage-bag.ts";
import { holdDamagedBag } from "./testing/hold-damaged-bag.ts";
import { propertyRuns } from "./testing/property-runs.ts";
import { salvagePool } from "./testing/salvage-bytes.ts";

test("every message of a damaged bag that a careful scan finds in a whole chunk is salvaged, and none is invented", async () => {
  for (let seed = 1; seed <= propertyRuns(400); seed += 1) {
    const bag = await damageBag(seed);
    assert.equal(await holdDamagedBag(bag, salvagePool), undefined, `npm run fuzz:bag -- --seed ${seed} --count 1`);
  }
});
