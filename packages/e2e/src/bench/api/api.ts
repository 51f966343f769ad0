// How near the API comes to a plain server over the same Postgres:
//
//   npm run bench:api [-- --only "by id|livez"] [--seconds 2] [--rounds 5] [--scale 0.01]
//
// The control plane and the reference (reference/server.ts) take turns under 50 busy connections of a third process. Both
// answers are compared first. It fails where they differ, never for a time.
import { fork } from "node:child_process";
import { once } from "node:events";
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { createTestDatabase, startCloud, type TestCloud } from "@downlink/cloud/testing";
import { makeTable } from "../../terminal/make-table.ts";
import { say } from "../report.ts";
import { scaleCounts, seed } from "../seed.ts";
import { requireSameAnswer } from "./compare-answers.ts";
import { greetAgents } from "./greeted-agents.ts";
import { type MeasuredTurns, measureOperation, type Sides } from "./measure-operation.ts";
import { type MeasuredOperation, measuredOperations } from "./operations.ts";
import { startMeasuredCloud, startReference } from "./servers.ts";

const CONNECTIONS = 50;
const IMPORTED = 50;

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    seconds: { type: "string", default: "2" },
    rounds: { type: "string", default: "5" },
    scale: { type: "string", default: "0.01" },
  },
});
await runBenchmark();

async function runBenchmark(): Promise<void> {
  await using closing = new AsyncDisposableStack();
  const ending = { after: (close: () => Promise<void>) => closing.defer(close) };
  const databaseUrl = await createTestDatabase(ending);
  const cloud = await startCloud(ending, { works: false, environment: { DATABASE_URL: databaseUrl } });
  const operations = (await setTheScene(cloud)).filter(({ name }) => new RegExp(values.only).test(name));
  const load = fork(new URL("load.ts", import.meta.url));
  closing.defer(async () => {
    load.disconnect();
    await once(load, "exit");
  });
  const reference = await startReference(closing, databaseUrl);
  const sides = {
    load,
    reference,
    cloud: await startMeasuredCloud(closing, { databaseUrl, dataDir: cloud.dataDir, adminKey: cloud.adminKey }),
  };
  await printAll(sides, operations);
}

/** Fills the database, and returns the operations to measure. */
async function setTheScene(cloud: TestCloud): Promise<MeasuredOperation[]> {
  const { pool } = cloud.deps.db;
  const { projectId } = await seed(pool, scaleCounts(Number(values.scale)), () => {});
  const { rows } = await pool.query<{ id: string }>(
    `UPDATE "Recording" SET "indexKey" = id WHERE id IN (
      SELECT id FROM "Recording" WHERE "importStatus" = 'complete' AND "blobKey" IS NOT NULL ORDER BY id LIMIT ${IMPORTED})
    RETURNING id`,
  );
  const agents = await greetAgents(cloud, { projectId, count: CONNECTIONS });
  await pool.query("VACUUM ANALYZE");
  return measuredOperations({ adminKey: cloud.adminKey, agents, importedIds: rows.map(({ id }) => id) });
}

async function printAll(sides: Sides, operations: readonly MeasuredOperation[]): Promise<void> {
  const table = makeTable(["operation", "ratio", "wanted", "p50 ms", "p99 ms", "statements", "CPU µs", "requests/s"]);
  for (const operation of operations) {
    await requireSameAnswer(sides, operation);
    const requests = Array.from({ length: CONNECTIONS }, (_, n) => operation.request(n));
    const times = { rounds: Number(values.rounds), durationMs: Number(values.seconds) * 1000 };
    const measured = await measureOperation(sides, { requests, ...times });
    say(`${operation.name}: ${measured.ratio.toFixed(2)}`);
    table.push(rowOf(operation, measured));
  }
  say(table.toString());
  say(
    "ratio: requests a second to those of the reference, the median of the rounds; others: control plane / reference",
  );
  say(
    `${CONNECTIONS} connections; on ${cpus().length} × ${cpus()[0]?.model}, shared by both servers, Postgres and the load`,
  );
}

function rowOf({ name, wanted = 0 }: MeasuredOperation, { ratio, cloud, reference }: MeasuredTurns): string[] {
  const both = (pick: (side: typeof cloud) => number, digits: number) =>
    `${pick(cloud).toFixed(digits)} / ${pick(reference).toFixed(digits)}`;
  return [
    name,
    `${ratio.toFixed(2)}${ratio < wanted ? " !" : ""}`,
    wanted === 0 ? "" : wanted.toFixed(1),
    both((side) => side.p50Ms, 1),
    both((side) => side.p99Ms, 1),
    both((side) => side.statements, 1),
    both((side) => side.us, 0),
    both((side) => side.perSecond, 0),
  ];
}
