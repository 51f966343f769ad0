// How fast agents' reports arrive, over HTTP through the real route:
//
//   npm run bench:edge [-- --scale 0.1] [--agents 1,8] [--durable]
//
// On a control plane and a database of its own, which go at the end; `--durable` keeps that on the disk, with fsync. Exits 1
// when Postgres saw a deadlock; never for a time.

import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { startCloud, startDurablePostgres, TEST_POSTGRES_VARIABLE, type TestCloud } from "@downlink/cloud/testing";
import { makeTable } from "../terminal/make-table.ts";
import { type BenchAgent, listFiles, listNothing, removeFiles, sayFiles, startBenchAgent } from "./edge-agents.ts";
import type { SaidFile } from "./edge-items.ts";
import { say } from "./report.ts";
import { countStatements, type StatementCount } from "./statement-count.ts";

const RECORDINGS = 100_000;

const { values } = parseArgs({
  options: {
    scale: { type: "string", default: "1" },
    agents: { type: "string", default: "1,8" },
    durable: { type: "boolean", default: false },
  },
});
const scale = Number(values.scale);
if (!(scale > 0 && scale <= 1)) throw new RangeError("--scale must be above 0 and at most 1");
const agentCounts = values.agents.split(",").map(Number);
if (!agentCounts.every((count) => Number.isInteger(count) && count > 0))
  throw new RangeError("--agents must be whole numbers above 0");
process.exitCode = (await runBenchmark()) === 0 ? 0 : 1;

/** Returns the number of deadlocks. */
async function runBenchmark(): Promise<number> {
  await using closing = new AsyncDisposableStack();
  if (values.durable) process.env[TEST_POSTGRES_VARIABLE] = closing.use(await startDurablePostgres()).url;
  const cloud = await startCloud({ after: (close) => closing.defer(close) }, { works: false });
  const { pool } = cloud.deps.db;
  const counted = await countStatements(pool);
  const count = Math.round(RECORDINGS * scale);
  for (const agentCount of agentCounts)
    report(await runVariants({ cloud, counted, agentCount, count }), { agentCount, count });
  say(`${counted.deadlocks} deadlocks; on ${cpus().length} × ${cpus()[0]?.model}`);
  return counted.deadlocks;
}

interface Run {
  readonly cloud: TestCloud;
  readonly counted: StatementCount;
  readonly agentCount: number;
  /** The number of recordings of each agent. */
  readonly count: number;
}

interface Variant {
  readonly name: string;
  /** Returns the number of reports that it took. */
  readonly work: (agent: BenchAgent) => Promise<number>;
}

interface Measured {
  readonly name: string;
  readonly perSecond: number;
  readonly statementsPerReport: number;
}

/** All agents run one variant at the same time, and the next one when the last agent is done. */
async function runVariants({ cloud, counted, agentCount, count }: Run): Promise<Measured[]> {
  const agents = await Promise.all(
    Array.from({ length: agentCount }, (_, n) => startBenchAgent(cloud, `bench-${agentCount}-${n}`)),
  );
  const measured: Measured[] = [];
  for (const { name, work } of variantsFor(cloud, count)) {
    const before = counted.statements;
    const startedMs = performance.now();
    const reports = (await Promise.all(agents.map(work))).reduce((a, b) => a + b);
    const seconds = (performance.now() - startedMs) / 1000;
    say(`${name}: ${agentCount * count} recordings in ${seconds.toFixed(1)} s`);
    const statementsPerReport = (counted.statements - before) / reports;
    measured.push({ name, perSecond: (agentCount * count) / seconds, statementsPerReport });
  }
  return measured;
}

function variantsFor(cloud: TestCloud, count: number): Variant[] {
  const files = (versions: string, folder: string): SaidFile[] =>
    Array.from({ length: count }, (_, number) => ({
      number,
      versionId: `${versions}-${String(number).padStart(20, "0")}`,
      path: `${folder}/2026-01/run-${number}.mcap`,
    }));
  const first = files("first", "card");
  const renamed = files("first", "archive");
  const again = files("again", "archive");
  return [
    { name: "first report", work: (agent) => sayFiles(cloud, agent, first) },
    { name: "unchanged repeat", work: (agent) => sayFiles(cloud, agent, first) },
    { name: "rename of all", work: (agent) => sayFiles(cloud, agent, renamed) },
    { name: "listing after a lost state", work: (agent) => listFiles(cloud, agent, again) },
    { name: "removal by version", work: (agent) => removeFiles(cloud, agent, again) },
    { name: "first report, once more", work: (agent) => sayFiles(cloud, agent, first) },
    { name: "removal by an empty listing", work: (agent) => listNothing(cloud, agent) },
  ];
}

function report(measured: readonly Measured[], { agentCount, count }: { agentCount: number; count: number }): void {
  const first = measured[0]!.perSecond;
  const table = makeTable([
    `${agentCount} × ${count} recordings`,
    "recordings/s",
    "to first report",
    "statements a report",
  ]);
  for (const { name, perSecond, statementsPerReport } of measured)
    table.push([name, perSecond.toFixed(0), (perSecond / first).toFixed(2), statementsPerReport.toFixed(1)]);
  say(table.toString());
}
