// How many agents one control plane carries, over the real protocol:
//
//   npm run bench:fleet [-- --agents 10000] [--seconds 120] [--storm-seconds 180]
//
// It starts a control plane and a durable Postgres of its own; the agents run in other processes, each with an address of its own. All
// begin; then they rest; then the control plane is started again, and all say hello again. A client reads the API beside them all the time.
// It prints the wanted figures beside the measured ones, and fails where a lease was lost or a call failed, never for a time.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createTestDatabase, seedFleet, startDurablePostgres, TEST_POSTGRES_VARIABLE } from "@downlink/cloud/testing";
import pg from "pg";
import { type ControlPlane, startControlPlane } from "../../processes/control-plane.ts";
import { figuresOf } from "../agent/process-figures.ts";
import { say } from "../report.ts";
import { memoryReporting, readMemory } from "./memory-parts.ts";
import { postgresCpuSeconds } from "./postgres-cpu.ts";
import { Reader } from "./reader.ts";
import { type FleetRun, reportFleet, type Span } from "./report-fleet.ts";
import { noCounts } from "./simulated-agent.ts";
import type { Part, PartFigures } from "./simulator.ts";

const { values } = parseArgs({
  options: {
    agents: { type: "string", default: "10000" },
    seconds: { type: "string", default: "120" },
    "storm-seconds": { type: "string", default: "180" },
  },
});
const agentCount = Number(values.agents);
if (!Number.isInteger(agentCount) || agentCount < 2) throw new RangeError("--agents must be a whole number above 1");
const PROCESSES = 2;
/** All agents begin within this time: a fleet does not, but a benchmark has to end. */
const RAMP_MS_PER_AGENT = 6;
const WARM_UP_AGENTS = 500;
const WARM_UP_RAMP_MS = 5000;
const QUIET_MS = 10_000;
const MOST_BEGINNING_S = 600;
/** The calls of the reader beside the agents. */
const TARGETS = ["/v1/devices/dev_fleet_1", "/v1/devices?limit=50", "/v1/recordings?limit=50"];

await using closing = new AsyncDisposableStack();
process.exitCode = reportFleet(await runBenchmark()) ? 0 : 1;

interface Bed {
  readonly database: pg.Client;
  readonly port: number;
  readonly startCloud: () => Promise<ControlPlane>;
}

async function makeBed(): Promise<Bed> {
  process.env[TEST_POSTGRES_VARIABLE] = closing.use(await startDurablePostgres()).url;
  const databaseUrl = await createTestDatabase({ after: () => {} });
  const database = new pg.Client({ connectionString: databaseUrl });
  await database.connect();
  closing.defer(() => database.end());
  const dataDir = await mkdtemp(join(tmpdir(), "downlink-bench-fleet-"));
  closing.defer(() => rm(dataDir, { recursive: true, force: true }));
  const port = await freePort();
  const env = { DATABASE_URL: databaseUrl, DOWNLINK_PORT: String(port) };
  const startCloud = async () => closing.use(await startControlPlane({ dataDir, env, nodeArgs: memoryReporting }));
  return { database, port, startCloud };
}

async function runBenchmark(): Promise<FleetRun> {
  const { database, port, startCloud } = await makeBed();
  let cloud = await startCloud();
  const fleet = await seedFleet(database, agentCount + WARM_UP_AGENTS);
  await database.query("VACUUM ANALYZE");
  const tokens = fleet.map(({ token }) => token);
  const reader = new Reader({ port, token: cloud.adminKey, targets: TARGETS });
  closing.defer(() => reader.end());
  await warmUp(tokens.slice(agentCount), port);
  reader.takeTimes();
  await delay(QUIET_MS);
  const quiet = { times: reader.takeTimes(), memory: await readMemory(cloud.program, 1) };
  say(`RSS ${quiet.memory.rss.toFixed(0)} MB after ${WARM_UP_AGENTS} agents came and went; ${agentCount} begin`);
  const parts = startParts(tokens.slice(0, agentCount), port);
  const measured = () => ({ cloud, database, reader, parts });
  const begin = await measureSpan("all begin", measured(), () => untilSettled(parts, agentCount, MOST_BEGINNING_S));
  const rest = await measureSpan("they rest", measured(), () => delay(Number(values.seconds) * 1000));
  const resting = await readMemory(cloud.program, 2);
  await cloud.program.end("SIGTERM");
  cloud = await startCloud();
  await untilUnsettled(parts);
  const stormSeconds = Number(values["storm-seconds"]);
  const storm = await measureSpan("all come back", measured(), () => untilSettled(parts, agentCount, stormSeconds));
  const spans = [begin, rest, storm] as const;
  return { agentCount, quiet, spans, resting, figures: total(parts), settled: settledOf(parts) };
}

/** Memory that is used once, however many agents there are, does not count for them. */
async function warmUp(tokens: readonly string[], port: number): Promise<void> {
  await using part = startPart({ port, tokens, firstNumber: agentCount + 1, rampMs: WARM_UP_RAMP_MS });
  await untilSettled([part], tokens.length, MOST_BEGINNING_S);
  await delay(QUIET_MS);
}

interface RunningPart extends AsyncDisposable {
  readonly child: ChildProcess;
  figures: PartFigures;
}

function startParts(tokens: readonly string[], port: number): RunningPart[] {
  const each = Math.ceil(tokens.length / PROCESSES);
  const rampMs = tokens.length * RAMP_MS_PER_AGENT;
  return Array.from({ length: PROCESSES }, (_, index) => {
    const own = tokens.slice(index * each, (index + 1) * each);
    return closing.use(startPart({ port, tokens: own, firstNumber: 1 + index * each, rampMs }));
  });
}

function startPart(given: Part): RunningPart {
  const child = fork(new URL("simulator.ts", import.meta.url));
  const part: RunningPart = {
    child,
    figures: { ...noCounts(), settled: 0 },
    async [Symbol.asyncDispose]() {
      child.disconnect();
      await once(child, "exit");
    },
  };
  child.on("message", (figures: PartFigures) => {
    part.figures = figures;
  });
  child.send(given);
  return part;
}

interface Measured {
  readonly cloud: ControlPlane;
  readonly database: pg.Client;
  readonly reader: Reader;
  readonly parts: readonly RunningPart[];
}

async function measureSpan(
  name: string,
  { cloud, database, reader, parts }: Measured,
  during: () => Promise<void>,
): Promise<Span> {
  const cpuSeconds = async () => ({
    cloud: (await figuresOf(cloud.program.pid)).cpuSeconds,
    postgres: await postgresCpuSeconds(database),
    agents: (await Promise.all(parts.map(({ child }) => figuresOf(child.pid!)))).reduce(
      (sum, one) => sum + one.cpuSeconds,
      0,
    ),
  });
  reader.takeTimes();
  const before = await cpuSeconds();
  const startedMs = performance.now();
  await during();
  const seconds = (performance.now() - startedMs) / 1000;
  const after = await cpuSeconds();
  const share = (of: keyof typeof before) => (after[of] - before[of]) / seconds;
  const cpu = { cloud: share("cloud"), postgres: share("postgres"), agents: share("agents") };
  const span = { name, seconds, times: reader.takeTimes(), cpu };
  const { p50Ms, p99Ms, maxMs } = span.times;
  say(
    `${name}: ${seconds.toFixed(0)} s, beside it p50 ${p50Ms.toFixed(1)} p99 ${p99Ms.toFixed(1)} max ${maxMs.toFixed(0)} ms`,
  );
  return span;
}

async function untilSettled(parts: readonly RunningPart[], count: number, mostSeconds: number): Promise<void> {
  const deadlineMs = performance.now() + mostSeconds * 1000;
  while (settledOf(parts) < count && performance.now() < deadlineMs) await delay(250);
}

/** The agents notice it within a second. */
async function untilUnsettled(parts: readonly RunningPart[]): Promise<void> {
  const deadlineMs = performance.now() + 5000;
  while (settledOf(parts) === agentCount && performance.now() < deadlineMs) await delay(100);
}

function settledOf(parts: readonly RunningPart[]): number {
  return parts.reduce((sum, { figures }) => sum + figures.settled, 0);
}

function total(parts: readonly RunningPart[]): Omit<PartFigures, "settled"> {
  const sum = (of: Exclude<keyof PartFigures, "lastFailure">) =>
    parts.reduce((all, { figures }) => all + figures[of], 0);
  return {
    ...{ hellos: sum("hellos"), polls: sum("polls"), heartbeats: sum("heartbeats"), reports: sum("reports") },
    ...{ postponed: sum("postponed"), leasesLost: sum("leasesLost"), failures: sum("failures") },
    lastFailure: parts.map(({ figures }) => figures.lastFailure).find(Boolean) ?? "",
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}
