// Runs the tests:
//
//   node scripts/test.ts [--slow] [--verbose] [--again] [--load N] [--without path]… [--store s3|azure] [--shard i/n] [part of a path …]
//
// --verbose names every test. --again runs a file that failed once more, alone, as a build does. --load keeps so many processes busy beside,
// to find what depends on the speed of the machine.
// With --store s3 the control planes of the tests keep their objects in a bucket of a Ceph that is run for them, with --store azure in a
// container of an Azurite.
import { spawn } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, relative, resolve } from "node:path";
import { finished } from "node:stream/promises";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { parseArgs } from "node:util";
import { runAzurite, whyNoAzurite } from "../packages/cloud/src/store/bucket-uploads/testing/run-azurite.ts";
import { runCeph, whyNoCeph } from "../packages/cloud/src/store/bucket-uploads/testing/run-ceph.ts";
import { startTestPostgres, TEST_POSTGRES_VARIABLE } from "../packages/cloud/src/testing/test-database.ts";
import { TEST_BUCKET_VARIABLE } from "../packages/cloud/src/testing/test-store.ts";
import { SLOW_TESTS_VARIABLE } from "../packages/recordings/src/testing/slow-test.ts";
import { endSilent, REPORTING } from "./end-silent.ts";
import { type FailedTest, filesToRunAgain, findFlaky, logFlaky, noteFailures } from "./failed-files.ts";
import { groupTests } from "./group-tests.ts";
import { openMemoryFolder } from "./memory-folder.ts";
import { reportTests } from "./report-tests.ts";
import { watchSilence } from "./watch-silence.ts";

const ROOT = resolve(import.meta.dirname, "..");
/** See there: it keeps a failed test from taking the machine down. */
const SHORT_DIFFERENCES = import.meta.resolve("./short-differences.ts");
/** See there: with it a promise costs a twentieth. */
const LEAVE_PROMISES = import.meta.resolve("./leave-promises.ts");
const CACHE = join(ROOT, "node_modules", ".cache", "downlink");
const GROUPS = join(CACHE, "tests");
const FLAKY_LOG = join(CACHE, "flaky.log");
/** A test that takes longer has failed, so that one that hangs does not block a build for ever. */
const TIMEOUT_MS = 600_000;
/** None of the tests that a build has time for takes as long as this. */
const SILENCE_MS = process.env.CI ? 400_000 : TIMEOUT_MS + 30_000;
/** What does more, or something at all, only with `--slow`. */
const SLOW_PARTS = /\b(?:firstCases|propertyRuns|runsSlowTests|slowTest)\(/;
/** With the usual 16 MB an eighth of the processors' time goes into collecting what tests throw away. */
const YOUNG_MB = 32;
/**
 * 400 MB may become old before they are collected for the first time, and buffers begin no collection of their own: a process of quick
 * tests collects once or twice in all. Slow tests measure memory.
 */
const COLLECT_LATE = ["--initial-old-space-size=400", "--external-memory-accounted-in-global-limit"];

const { values, positionals } = parseArgs({
  options: {
    again: { type: "boolean", default: Boolean(process.env.CI) },
    load: { type: "string", default: "0" },
    shard: { type: "string" },
    slow: { type: "boolean", default: false },
    store: { type: "string" },
    verbose: { type: "boolean", default: false },
    without: { type: "string", multiple: true, default: [] },
  },
  allowPositionals: true,
});
const stores: Readonly<Record<string, { whyNot(): string | undefined; open(): Promise<AsyncDisposable> }>> = {
  s3: { whyNot: whyNoCeph, open: openTestBucket },
  azure: { whyNot: whyNoAzurite, open: openTestContainer },
};
const store = values.store === undefined ? undefined : stores[values.store];
if (values.store !== undefined && !store) throw new Error(`--store ${values.store}: expected s3 or azure`);
if (store?.whyNot() !== undefined) process.exit();
/** So many processes compute at once: more of them only take their caches from each other. */
const concurrency = Math.max(3, Math.min(6, Math.round(1.5 * availableParallelism())));
const files = takeShard(leaveOut(findTests(positionals), values.without), values.shard);
if (files.length === 0) {
  console.error(`no test file matches ${positionals.join(" ")}${values.slow ? "" : "; the long ones need --slow"}`);
  process.exit(1);
}

if (values.slow) process.env[SLOW_TESTS_VARIABLE] = "1";
/** The slow tests have large files, and ask what a disk does. */
using folder = values.slow ? undefined : openMemoryFolder();
if (folder) process.env.TMPDIR = folder.path;
const interrupted = new AbortController();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => interrupted.abort());

await using server = files.some(needsPostgres) ? await startTestPostgres() : undefined;
if (server) process.env[TEST_POSTGRES_VARIABLE] = server.url;
await using _store = await store?.open();
console.error(`${files.length} test files${values.slow ? " of the long ones" : ""}; --verbose names every test`);
using _load = keepBusy(Number(values.load));
const report = values.verbose ? undefined : reportTests(process.stdout, (file) => relative(ROOT, file));
const results = await Promise.all(lanesOf(files).map((lane) => runTests(lane, interrupted.signal)));
process.exitCode = (await endGreen(results)) ? 0 : 1;
report?.end();

/** Keeps processes busy until it is disposed of. They end with this one. */
function keepBusy(count: number): Disposable {
  const busy = Array.from({ length: count }, () =>
    spawn(
      process.execPath,
      [
        "-e",
        "process.stdin.on('end', () => process.exit()).resume(); (function turn() { for (let at = 0; at < 1e7; at++); setImmediate(turn); })()",
      ],
      {
        stdio: ["pipe", "ignore", "ignore"],
      },
    ),
  );
  return { [Symbol.dispose]: () => busy.forEach((one) => void one.kill()) };
}

/**
 * Returns the files whose path contains one of the given texts, or all files, in a fixed order. To the long ones belong those of the others
 * that hold slow tests, or properties, which are then tried with all of their cases.
 */
function findTests(parts: string[]): string[] {
  const found = values.slow ? [...glob("slow"), ...glob("test").filter(holdsSlow)] : glob("test");
  const isWanted = (path: string) =>
    parts.length === 0 || parts.some((part) => path.includes(part.replace(/^\.\//, "")));
  return found.filter(isWanted).sort();
}

function glob(kind: "slow" | "test"): string[] {
  return globSync([`packages/*/src/**/*.${kind}.ts`, `scripts/**/*.${kind}.ts`], { cwd: ROOT });
}

function holdsSlow(path: string): boolean {
  return SLOW_PARTS.test(readFileSync(join(ROOT, path), "utf8"));
}

/** What a build has no time for is printed, so that nobody takes it for tested. A path that is no test is a mistake. */
function leaveOut(paths: string[], without: readonly string[]): string[] {
  const unknown = without.find((path) => !paths.includes(path));
  if (unknown !== undefined) throw new Error(`--without ${unknown}: there is no such test`);
  if (without.length > 0) console.error(`NOT TESTED here: npm test -- --slow ${without.join(" ")}`);
  return paths.filter((path) => !without.includes(path));
}

function takeShard(paths: string[], shard = "1/1"): string[] {
  const [index, count] = shard.split("/").map(Number) as [number, number];
  if (!(index >= 1 && index <= count)) throw new Error(`--shard ${shard}: expected i/n with 1 ≤ i ≤ n`);
  return paths.filter((_, position) => position % count === index - 1);
}

function needsPostgres(path: string): boolean {
  return path.startsWith("packages/cloud/") || path.startsWith("packages/e2e/");
}

/** Makes one bucket for the run, in which each control plane uses a prefix of its own. */
async function openTestBucket(): Promise<AsyncDisposable> {
  const ceph = await runCeph();
  const { endpoint, owner } = ceph;
  process.env[TEST_BUCKET_VARIABLE] = JSON.stringify({ kind: "s3", endpoint, bucket: await ceph.makeBucket() });
  process.env.AWS_ACCESS_KEY_ID = owner.accessKeyId;
  process.env.AWS_SECRET_ACCESS_KEY = owner.secretAccessKey;
  return ceph;
}

/** Makes one container for the run, in the same way. */
async function openTestContainer(): Promise<AsyncDisposable> {
  const azurite = await runAzurite();
  const { account, endpoint, accountKey } = azurite;
  const container = await azurite.makeContainer();
  process.env[TEST_BUCKET_VARIABLE] = JSON.stringify({ kind: "azure", account, endpoint, accountKey, container });
  process.env.AZURE_STORAGE_KEY = accountKey;
  return azurite;
}

/** Tests that run at the same time in processes of their own, and how many of these. */
interface Lane {
  readonly files: readonly string[];
  readonly concurrency: number;
}

interface LaneResult {
  readonly isGreen: boolean;
  readonly failed: readonly FailedTest[];
}

/**
 * Files of agents and of whole programs wait, for leases, links and ends. Other files compute, and some slow ones measure that, so that few
 * of those run at once. Both run beside each other: the former leave the processors to the latter. Groups of quick files run beside each
 * other in any run; beside slow ones with those that wait.
 */
function lanesOf(paths: readonly string[]): Lane[] {
  const grouped = groupTests(paths, { root: ROOT, directory: GROUPS });
  const computes = Math.floor(concurrency / 2);
  const { paths: waits, ...counts } = values.slow
    ? { paths: /\.test\.mjs$|\/packages\/(agent|e2e)\//, waiting: concurrency - computes, computing: computes }
    : { paths: /\/packages[-/](agent|e2e)[-/]/, waiting: 1, computing: concurrency };
  const { waiting = [], computing = [] } = Object.groupBy(grouped, (path) =>
    waits.test(path) ? "waiting" : "computing",
  );
  return [
    { files: waiting, concurrency: computing.length > 0 ? counts.waiting : concurrency },
    { files: computing, concurrency: counts.computing },
  ].filter((lane) => lane.files.length > 0);
}

async function runTests(lane: Lane, signal: AbortSignal): Promise<LaneResult> {
  const hanging = new AbortController();
  const options = {
    files: lane.files,
    concurrency: lane.concurrency,
    timeout: TIMEOUT_MS,
    signal: AbortSignal.any([signal, hanging.signal]),
    execArgv: [
      `--max-semi-space-size=${YOUNG_MB}`,
      ...(values.slow ? [] : [`--min-semi-space-size=${YOUNG_MB}`, ...COLLECT_LATE]),
      ...REPORTING,
      ...["--import", LEAVE_PROMISES],
      ...["--import", SHORT_DIFFERENCES],
    ],
  };
  const events = run(options);
  using _watching = watchSilence(events, SILENCE_MS, (files) => {
    console.error(`NOTHING WAS HEARD OF for ${SILENCE_MS / 1000} s; this is ended: ${files.join(" ")}`);
    endSilent(files).then((waits) => {
      for (const wait of waits) console.error(wait);
      if (waits.length === 0) hanging.abort(new Error("what is silent cannot be ended"));
    }, hanging.abort.bind(hanging));
  });
  const failed = noteFailures(events);
  let isGreen = false;
  events.on("test:summary", ({ file, success }) => {
    if (file === undefined) isGreen = success;
  });
  report?.watch(events);
  if (report) await finished(events.resume());
  else for await (const text of events.compose(new spec())) process.stdout.write(text);
  return { isGreen: isGreen && !signal.aborted, failed };
}

/**
 * Resolves to whether the tests passed. With `--again`, files that failed are run once more, one after the other; a test that then passes is
 * printed and logged as flaky, because either the product or the test has a race, and somebody has to find out which.
 */
async function endGreen(lanes: readonly LaneResult[]): Promise<boolean> {
  if (lanes.every(({ isGreen }) => isGreen)) return true;
  const failed = lanes.flatMap((lane) => lane.failed);
  const again = values.again && !interrupted.signal.aborted ? filesToRunAgain(failed) : [];
  if (again.length === 0) return false;
  console.error(`RUN AGAIN, alone: ${again.map((file) => relative(ROOT, file)).join(" ")}`);
  const second = await runTests({ files: again, concurrency: 1 }, interrupted.signal);
  const flaky = findFlaky(failed, second.failed).map((test) => ({ ...test, file: relative(ROOT, test.file) }));
  logFlaky(FLAKY_LOG, flaky);
  report?.excuse(flaky.length);
  for (const { file, title } of flaky) console.error(`flaky: ${file}: ${title}`);
  return second.isGreen;
}
