// Runs every gate and prints the output of those that fail. Two at a time, the longest first. With --measures it prints the measures of the
// house instead.
import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { resolve } from "node:path";

interface Gate {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
}

interface Result {
  readonly isGreen: boolean;
  readonly output: string;
  readonly seconds: string;
}

const ROOT = resolve(import.meta.dirname, "..");
const CONCURRENCY = 2;
/** Each checker works out for itself what others know already: tsc's usual four compute two fifths more than one. */
const CHECKERS = Math.max(1, Math.min(4, Math.floor(availableParallelism() / 2)));
const GATES: Gate[] = [
  { name: "types", command: ["tsc", "--build", "--checkers", String(CHECKERS)] },
  { name: "unused code", command: ["knip", "--no-progress", "--no-config-hints"] },
  { name: "import rules", command: [process.execPath, "scripts/check-imports.ts"] },
  { name: "lint and format", command: ["biome", "check", "--error-on-warnings", "."] },
  { name: "schema and migrations", command: [process.execPath, "scripts/migrate.ts", "drift"] },
  { name: "OpenAPI", command: [process.execPath, "scripts/check-openapi.ts"] },
  { name: "paths in documents", command: [process.execPath, "scripts/check-docs.ts"] },
  { name: "queries", command: [process.execPath, "scripts/check-queries.ts"] },
  { name: "styles", command: [process.execPath, "scripts/check-styles.ts"] },
  { name: "words", command: [process.execPath, "scripts/check-words.ts"] },
];

const waiting = [...GATES];
const failed: string[] = [];
if (process.argv.includes("--measures")) await import("./measures.ts");
else await runGates();

async function runGates(): Promise<void> {
  await Promise.all(Array.from({ length: CONCURRENCY }, runWaiting));
  console.log(failed.length === 0 ? "all gates are green" : `red: ${failed.join(", ")}`);
  process.exitCode = failed.length === 0 ? 0 : 1;
}

async function runWaiting(): Promise<void> {
  for (let gate = waiting.shift(); gate !== undefined; gate = waiting.shift()) {
    const { isGreen, seconds, output } = await runGate(gate);
    console.log(`${isGreen ? "✔" : "✖"} ${gate.name} (${seconds} s)`);
    if (isGreen) continue;
    failed.push(gate.name);
    console.log(`  ${gate.command.join(" ")}\n${output.replace(/^/gm, "  ")}`);
  }
}

function runGate({ command: [program, ...args] }: Gate): Promise<Result> {
  const started = performance.now();
  const child = spawn(program, args, { cwd: ROOT, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  return new Promise((done, fail) => {
    child.once("error", fail);
    child.once("close", (code) => {
      const seconds = ((performance.now() - started) / 1000).toFixed(1);
      done({ isGreen: code === 0, output: output.trimEnd(), seconds });
    });
  });
}
