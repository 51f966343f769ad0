// Holds survey and salvage of bags to their promise with random damage: npm run fuzz:bag [-- --seed N --count 2000 --keep FOLDER]
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { RewritePool } from "../export/rewrite/rewrite-pool.ts";
import { damageBag } from "./damaged/damage-bag.ts";
import { holdDamaged } from "./damaged/hold-damaged.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: `${Math.floor(Math.random() * 1e9)}` },
    count: { type: "string", default: "2000" },
    /** Files that fail are written there. */
    keep: { type: "string" },
  },
});
const [firstSeed, count] = [Number(values.seed), Number(values.count)];
if (!Number.isSafeInteger(firstSeed) || !Number.isSafeInteger(count)) {
  console.error("--seed and --count are numbers");
  process.exit(2);
}
let failures = 0;
await using pool = new RewritePool({ threadCount: 1 });
console.log(`${count} seeds from ${firstSeed} on`);
for (let seed = firstSeed; seed < firstSeed + count; seed += 1) {
  const bag = await damageBag(seed);
  const failure = await holdDamaged(bag, pool).catch((error: unknown) => String(error));
  if (failure !== undefined) {
    failures += 1;
    console.log(`seed ${seed} (${bag.damages.join(", ")}): ${failure}`);
    console.log(`  again: npm run fuzz:bag -- --seed ${seed} --count 1`);
    if (values.keep !== undefined) {
      mkdirSync(values.keep, { recursive: true });
      writeFileSync(join(values.keep, `${seed}.bag`), bag.bytes);
    }
  }
  const done = seed - firstSeed + 1;
  if (done % 100 === 0) console.log(`${done} of ${count} seeds: ${failures} files failed`);
}
process.exitCode = failures === 0 ? 0 : 1;
