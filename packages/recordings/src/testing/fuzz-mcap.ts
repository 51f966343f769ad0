// Holds reader and export to their promise with random odd files: npm run fuzz:mcap [-- --seed N --count 5000 --keep FOLDER]
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { mutateOddMcap } from "./mutate-odd-mcap.ts";
import { createOutcomeTable } from "./odd/outcome-table.ts";
import { tryOddFile } from "./odd/try-odd-file.ts";
import { makeOddMcap, type OddMcap } from "./odd-mcap.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: `${Math.floor(Math.random() * 1e9)}` },
    count: { type: "string", default: "5000" },
    /** Files that fail are written there. */
    keep: { type: "string" },
  },
});
const firstSeed = readNumber("seed", values.seed);
const count = readNumber("count", values.count);
const table = createOutcomeTable();
let failures = 0;

console.log(`two files of each of ${count} seeds from ${firstSeed} on`);
for (let seed = firstSeed; seed < firstSeed + count; seed += 1) {
  await tryOne(makeOddMcap(seed));
  await tryOne(mutateOddMcap(seed));
  const done = seed - firstSeed + 1;
  if (done % 100 === 0) console.log(`${done} of ${count} seeds: ${failures} files failed`);
}
console.log(`\n${table.print()}\n\nall: ${table.total()}`);
// The threads of the exports would keep the process.
process.exit(failures === 0 ? 0 : 1);

async function tryOne(odd: OddMcap): Promise<void> {
  const { outcome, failure } = await tryOddFile(odd);
  table.add(odd.kinds, outcome);
  if (failure === undefined) return;
  failures += 1;
  console.log(`\nseed ${odd.seed} (${odd.kinds.join(", ")}): ${failure}`);
  console.log(`  again: npm run fuzz:mcap -- --seed ${odd.seed} --count 1`);
  if (values.keep === undefined) return;
  mkdirSync(values.keep, { recursive: true });
  writeFileSync(join(values.keep, `${odd.seed}-${odd.knownBy === "writer" ? "made" : "mutated"}.mcap`), odd.bytes);
}

function readNumber(name: string, text: string): number {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number >= 0) return number;
  console.error(`--${name} ${text}: expected a number`);
  process.exit(2);
}
