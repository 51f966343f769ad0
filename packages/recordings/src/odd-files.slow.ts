import assert from "node:assert/strict";
import { test } from "node:test";
import { mutateOddMcap } from "./testing/mutate-odd-mcap.ts";
import { oddKinds } from "./testing/odd/kinds.ts";
import { createOutcomeTable } from "./testing/odd/outcome-table.ts";
import { tryOddFile } from "./testing/odd/try-odd-file.ts";
import { makeOddMcap, type OddMcap } from "./testing/odd-mcap.ts";

/** `npm run fuzz:mcap` tries as many others as it is asked for. */
const seeds = Array.from({ length: 200 }, (_, index) => 1000 + index);

test("each oddity alone is held", async () => {
  const makers = oddKinds.flatMap(({ name, isRare }) =>
    seeds.slice(0, isRare ? 1 : 3).map((seed) => () => makeOddMcap(seed, [name])),
  );
  await holdAll(makers);
});

test("200 files of any oddities are held, and not only by refusing them", async () => {
  const exact = await holdAll(seeds.map((seed) => () => makeOddMcap(seed)));
  assert.ok(exact > seeds.length / 4, `only ${exact} are given whole`);
});

test("200 files that were changed at random are held", async () => {
  await holdAll(seeds.map((seed) => () => mutateOddMcap(seed)));
});

/** How many are given whole. */
async function holdAll(makers: readonly (() => OddMcap)[]): Promise<number> {
  const table = createOutcomeTable();
  const failures: string[] = [];
  let exact = 0;
  for (const make of makers) {
    const odd = make();
    const { outcome, failure } = await tryOddFile(odd);
    table.add(odd.kinds, outcome);
    if (outcome === "exact") exact += 1;
    if (failure !== undefined) failures.push(`seed ${odd.seed} (${odd.kinds.join(", ")}): ${failure}`);
  }
  console.log(table.total());
  assert.deepEqual(failures, []);
  return exact;
}
