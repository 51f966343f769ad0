// How much time and memory the sweep, the check and the walk after a restore take over 1,000,000 objects, and how much they slow down a
// client that reads the API beside them:
//
//   npm run bench:objects [-- --objects 1000000] [--only sweep|check|adoption] [--turns-beside 1] [--folder /dev/shm]
//
// The listing is computed (`many-objects-child.ts`), the rows are real, in a durable Postgres. The database lacks one recording of a
// thousand. The task runs for so many turns and is suspended for one: calls are timed beside it and without it in one run. The benchmark
// never fails for a time.
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startControlPlane } from "../../processes/control-plane.ts";
import { startExternalPostgres } from "../../processes/external-postgres.ts";
import { makeFolderUntilExit } from "../../processes/folder-until-exit.ts";
import { startProgram } from "../../processes/program.ts";
import { makeTable } from "../../terminal/make-table.ts";
import { say } from "../report.ts";
import { insertObjects, readOwner } from "./insert-objects.ts";
import { timeInTurns } from "./time-in-turns.ts";

const { values } = parseArgs({
  options: {
    objects: { type: "string", default: "1000000" },
    only: { type: "string", default: "" },
    "turns-beside": { type: "string", default: "1" },
    folder: { type: "string", default: "/dev/shm" },
  },
});
const TASKS = ["sweep", "check", "adoption"];
const MOST_BYTES = 300e6;

await using stack = new AsyncDisposableStack();
const folder = makeFolderUntilExit(values.folder, "downlink-objects-");
const postgres = stack.use(await startExternalPostgres(join(folder, "postgres")));
const env = { DATABASE_URL: postgres.url, DOWNLINK_RATE_LIMIT: "100000000" };
const cloud = stack.use(await startControlPlane({ dataDir: join(folder, "cloud"), env, mode: "serve" }));
const objects = Number(values.objects);
const startedMs = performance.now();
await insertObjects(postgres, objects);
say(`${objects} recordings are inserted after ${((performance.now() - startedMs) / 1000).toFixed(0)} s`);
const owner = await readOwner(postgres);
const table = makeTable([
  "task",
  "found",
  "seconds",
  "MB idle",
  "MB at most",
  "p50 beside",
  "without",
  "ratio",
  "p99 beside",
  "without",
  "ratio",
]);
for (const task of TASKS.filter((one) => one.includes(values.only))) {
  await using child = startProgram({
    script: "cloud/src/testing/many-objects-child.ts",
    args: [task, values.objects, ...owner],
    env: { ...env, DOWNLINK_DATA_DIR: join(folder, "child"), DOWNLINK_ADMIN_KEY: "x".repeat(32) },
  });
  await child.line(/^begins/);
  const turnsBeside = Number(values["turns-beside"]);
  const { seconds, beside, without } = await timeInTurns({ cloud, postgres, child, objects, turnsBeside });
  const result = JSON.parse((await child.line(/^result /)).slice("result ".length)) as Result;
  const ratios = [0.5, 0.99].flatMap((share) => compare(quantile(beside, share), quantile(without, share)));
  const megabytes = [result.idleBytes, result.mostBytes].map((bytes) => (bytes / 1e6).toFixed(0));
  table.push([task, result.findings, seconds.toFixed(0), ...megabytes, ...ratios]);
  if (result.mostBytes > MOST_BYTES) process.exitCode = 1;
}
say(table.toString());
say(
  `on ${cpus().length} × ${cpus()[0]?.model}, ${loadavg()[0]!.toFixed(1)} programs running beside each other at the end`,
);

interface Result {
  readonly findings: number;
  readonly idleBytes: number;
  readonly mostBytes: number;
}

function compare(besideMs: number, withoutMs: number): string[] {
  return [`${besideMs.toFixed(1)} ms`, `${withoutMs.toFixed(1)} ms`, (besideMs / withoutMs).toFixed(2)];
}

function quantile(timesMs: readonly number[], share: number): number {
  return timesMs.toSorted((a, b) => a - b)[Math.floor(share * (timesMs.length - 1))] ?? Number.NaN;
}
