import assert from "node:assert/strict";
import { after, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { eventually } from "@downlink/recordings/testing";
import { pino } from "pino";
import { openDatabase } from "../../db/client.ts";
import { withTransaction } from "../../db/transaction.ts";
import { createMetrics } from "../../process/metrics/metrics.ts";
import { createTestDatabase } from "../../testing/test-database.ts";
import { PgBossQueue } from "./pg-boss-queue.ts";
import type { JobHandlers } from "./queue.ts";

const log = pino({ level: "silent" });
const url = await createTestDatabase({ after });
const db = openDatabase(url, { maxConnections: 4, log });
after(() => db[Symbol.asyncDispose]());

const openQueue = () => PgBossQueue.start({ url, log, metrics: createMetrics() });

function handlersFor(ingest: JobHandlers["ingest"]): JobHandlers {
  const others = new Proxy({} as JobHandlers, { get: () => async () => {} });
  return new Proxy(others, { get: (_target, name) => (name === "ingest" ? ingest : others[name as "ingest"]) });
}

const add = (jobs: PgBossQueue, requestId: string) =>
  withTransaction(db, (tx) => jobs.enqueue(tx, { name: "ingest", data: { orgId: "org", requestId } }));

test("a process that stops waits until its jobs have let go, and another one has them at once", async () => {
  const stopping = await openQueue();
  const begun = Promise.withResolvers<void>();
  let hasLetGo = false;
  const ingest: JobHandlers["ingest"] = async (_data, signal) => {
    begun.resolve();
    await delay(60_000, undefined, { signal }).catch(() => {});
    await delay(500); // it says so in the database
    hasLetGo = true;
    throw new Error("told to stop");
  };
  await stopping.startWorking(handlersFor(ingest), 1);
  await add(stopping, "long");
  await begun.promise;
  await stopping[Symbol.asyncDispose]();
  assert.ok(hasLetGo);

  await using other = await openQueue();
  const taken = Promise.withResolvers<string>();
  await other.startWorking(
    handlersFor(async ({ requestId }) => taken.resolve(requestId)),
    1,
  );
  assert.equal(await taken.promise, "long");
});

test("a job whose worker died is taken over as soon as its heartbeat is missed", async () => {
  await using queue = await openQueue();
  await add(queue, "orphan");
  await db.pool.query(
    `UPDATE pgboss.job SET state = 'active', started_on = now() - interval '1 min', heartbeat_on = now() - interval '1 min'
      WHERE data->>'requestId' = 'orphan'`,
  );
  const done: string[] = [];
  await queue.startWorking(
    handlersFor(async ({ requestId }) => void done.push(requestId)),
    1,
  );
  await eventually(
    async () => done,
    (all) => all.includes("orphan"),
  );
});
