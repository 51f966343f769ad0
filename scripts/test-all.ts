// Runs all that can be run here: the gates, the tests, the long ones in eight shards, the faults and the demo.
//
//   node scripts/test-all.ts [--from N]
//
// It takes hours. A step that fails does not end it. It ends with one table, and with 1 if a step failed. --from begins at a later step.
// What cannot be tested here, because a program is missing, is skipped and named; with CI set it fails.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { readCounts, type StepResult, toTable } from "./step-table.ts";

const ROOT = resolve(import.meta.dirname, "..");
const SHARDS = 8;
/** The counts are at the end of what a step prints. */
const KEPT_CHARACTERS = 200_000;

interface Step {
  readonly name: string;
  /** The path of the program, and its arguments. */
  readonly command: readonly string[];
}

const steps: readonly Step[] = [
  { name: "check", command: ["scripts/check.ts"] },
  { name: "test", command: ["scripts/test.ts", "--again"] },
  ...Array.from({ length: SHARDS }, (_, index) => ({
    name: `test --slow ${index + 1}/${SHARDS}`,
    command: ["scripts/test.ts", "--again", "--slow", "--shard", `${index + 1}/${SHARDS}`],
  })),
  { name: "faults", command: ["packages/e2e/src/faults/main.ts"] },
  { name: "demo", command: ["packages/e2e/src/demo/main.ts"] },
];

const { values } = parseArgs({ options: { from: { type: "string", default: "1" } } });
const results: StepResult[] = [];
for (const [index, step] of steps.entries()) {
  if (index + 1 < Number(values.from)) continue;
  console.log(`\n── ${index + 1} of ${steps.length}: ${step.name}`);
  const result = await runStep(step);
  results.push(result);
  if (result.isInterrupted) break;
}
console.log(`\n${toTable(results)}`);
process.exitCode = results.every(({ code }) => code === 0) ? 0 : 1;

async function runStep({ name, command: [script, ...args] }: Step): Promise<StepResult> {
  const startedMs = performance.now();
  const child = spawn(process.execPath, [join(ROOT, script!), ...args], { cwd: ROOT, stdio: "pipe" });
  let printed = "";
  for (const [stream, out] of [
    [child.stdout, process.stdout],
    [child.stderr, process.stderr],
  ] as const)
    stream.on("data", (bytes: Buffer) => {
      out.write(bytes);
      printed = (printed + bytes.toString()).slice(-KEPT_CHARACTERS);
    });
  child.stdin.end();
  const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
  const tookMs = performance.now() - startedMs;
  return { name, code: code ?? 1, isInterrupted: signal !== null || code === 130, tookMs, ...readCounts(printed) };
}
