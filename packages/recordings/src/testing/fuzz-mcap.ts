// Holds reader and export to their promise with random odd files: npm run fuzz:mcap [-- --seed N --count 5000 --keep FOLDER --kind NAME …]
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { RewritePool } from "../export/rewrite/rewrite-pool.ts";
import { damageMcap } from "./damaged/damage-mcap.ts";
import { holdDamaged } from "./damaged/hold-damaged.ts";
import { mutateOddMcap } from "./mutate-odd-mcap.ts";
import { oddKinds } from "./odd/kinds.ts";
import { createOutcomeTable } from "./odd/outcome-table.ts";
import { tryOddFile } from "./odd/try-odd-file.ts";
import { makeOddMcap, type OddMcap } from "./odd-mcap.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: `${Math.floor(Math.random() * 1e9)}` },
    count: { type: "string", default: "5000" },
    /** Files that fail are written there. */
    keep: { type: "string" },
    /** Only files that are odd in these ways, all of them at once. */
    kind: { type: "string", multiple: true },
    /** Only damaged files, which are salvaged. */
    damaged: { type: "boolean" },
  },
});
const firstSeed = readNumber("seed", values.seed);
const count = readNumber("count", values.count);
const table = createOutcomeTable();
const pool = new RewritePool({ threadCount: 1 });
let failures = 0;

const unknown = values.kind?.filter((name) => oddKinds.every((kind) => kind.name !== name)) ?? [];
if (unknown.length > 0) {
  console.error(`--kind ${unknown.join(", ")}: there are only\n${oddKinds.map(({ name }) => `  ${name}`).join("\n")}`);
  process.exit(2);
}

console.log(
  `${count} seeds from ${firstSeed} on, of each a made file${values.kind ? "" : ", a mutated and a damaged one"}`,
);
for (let seed = firstSeed; seed < firstSeed + count; seed += 1) {
  if (!values.damaged) await tryOne(makeOddMcap(seed, values.kind));
  if (!values.damaged && !values.kind) await tryOne(mutateOddMcap(seed));
  if (!values.kind) await tryDamaged(seed);
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
  const kinds = values.kind?.map((name) => ` --kind "${name}"`).join("") ?? "";
  console.log(`  again: npm run fuzz:mcap -- --seed ${odd.seed} --count 1${kinds}`);
  keep(`${odd.seed}-${odd.knownBy === "writer" ? "made" : "mutated"}.mcap`, odd.bytes);
}

async function tryDamaged(seed: number): Promise<void> {
  const file = damageMcap(seed);
  const failure = await holdDamaged(file, pool).catch((error: unknown) => String(error));
  table.add(
    file.damages.map((name) => `damaged: ${name}`),
    failure === undefined ? "salvaged" : "FAILED",
  );
  if (failure === undefined) return;
  failures += 1;
  console.log(`\nseed ${seed} (${file.damages.join(", ")}): ${failure}`);
  console.log(`  again: npm run fuzz:mcap -- --seed ${seed} --count 1 --damaged`);
  keep(`${seed}-damaged.mcap`, file.bytes);
}

function keep(name: string, bytes: Uint8Array): void {
  if (values.keep === undefined) return;
  mkdirSync(values.keep, { recursive: true });
  writeFileSync(join(values.keep, name), bytes);
}

function readNumber(name: string, text: string): number {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number >= 0) return number;
  console.error(`--${name} ${text}: expected a number`);
  process.exit(2);
}
