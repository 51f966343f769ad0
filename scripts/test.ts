// Runs the tests: node scripts/test.ts [--slow] [--shard i/n] [part of a path …]
import { globSync } from "node:fs";
import { join, resolve } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { parseArgs } from "node:util";
import { startTestPostgres, TEST_POSTGRES_VARIABLE } from "../packages/cloud/src/testing/test-database.ts";
import { giveUpSilent } from "./give-up-silent.ts";
import { groupTests } from "./group-tests.ts";

const ROOT = resolve(import.meta.dirname, "..");
/** More than there are processors at least: much of what tests do is wait. */
const CONCURRENCY = 3;
const GROUPS = join(ROOT, "node_modules", ".cache", "downlink", "tests");
/** Of one test: a hang fails here instead of blocking a build for ever. */
const TIMEOUT_MS = 600_000;
const SILENCE_MS = TIMEOUT_MS + 30_000;

const { values, positionals } = parseArgs({
  options: { shard: { type: "string" }, slow: { type: "boolean", default: false } },
  allowPositionals: true,
});
const files = takeShard(findTests(positionals), values.shard);
if (files.length === 0) {
  console.error(`no test file matches ${positionals.join(" ")}${values.slow ? "" : "; the long ones need --slow"}`);
  process.exit(1);
}

const interrupted = new AbortController();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => interrupted.abort());

await using server = files.some(needsPostgres) ? await startTestPostgres() : undefined;
if (server) process.env[TEST_POSTGRES_VARIABLE] = server.url;
process.exitCode = (await runTests(files, interrupted.signal)) ? 0 : 1;

/** In a fixed order; those whose path contains one of the given texts, or all. */
function findTests(parts: string[]): string[] {
  const kind = values.slow ? "slow" : "test";
  const patterns = [`packages/*/src/**/*.${kind}.ts`, `scripts/*.${kind}.ts`];
  const found = globSync(patterns, { cwd: ROOT });
  const isWanted = (path: string) =>
    parts.length === 0 || parts.some((part) => path.includes(part.replace(/^\.\//, "")));
  return found.filter(isWanted).sort();
}

function takeShard(paths: string[], shard = "1/1"): string[] {
  const [index, count] = shard.split("/").map(Number) as [number, number];
  if (!(index >= 1 && index <= count)) throw new Error(`--shard ${shard}: expected i/n with 1 ≤ i ≤ n`);
  return paths.filter((_, position) => position % count === index - 1);
}

function needsPostgres(path: string): boolean {
  return path.startsWith("packages/cloud/") || path.startsWith("packages/e2e/");
}

async function runTests(paths: string[], signal: AbortSignal): Promise<boolean> {
  const hanging = new AbortController();
  const options = {
    files: groupTests(paths, { root: ROOT, directory: GROUPS }),
    concurrency: CONCURRENCY,
    timeout: TIMEOUT_MS,
    signal: AbortSignal.any([signal, hanging.signal]),
  };
  const events = run(options);
  giveUpSilent(events, SILENCE_MS, (reason) => hanging.abort(reason));
  let isGreen = false;
  events.on("test:summary", ({ file, success }) => {
    if (file === undefined) isGreen = success;
  });
  for await (const text of events.compose(new spec())) process.stdout.write(text);
  return isGreen && !signal.aborted;
}
