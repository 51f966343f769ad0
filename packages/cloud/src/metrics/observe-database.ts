import type { Database } from "../db/client.ts";
import type { Metrics } from "./metrics.ts";

/** One row a queue, also for an empty one. Those of the queue itself begin with two underscores. */
const JOBS = `
  SELECT q.name,
    count(*) FILTER (WHERE j.state = 'created')::int AS waiting,
    count(*) FILTER (WHERE j.state = 'retry')::int AS retrying,
    count(*) FILTER (WHERE j.state = 'active')::int AS active,
    count(*) FILTER (WHERE j.state = 'failed')::int AS failed,
    coalesce(extract(epoch FROM now() - min(j.start_after) FILTER (WHERE j.state IN ('created', 'retry'))), 0)::float8 AS "oldestSeconds"
  FROM pgboss.queue q LEFT JOIN pgboss.job j ON j.name = q.name AND j.state IN ('created', 'retry', 'active', 'failed')
  WHERE NOT starts_with(q.name, '__') GROUP BY q.name`;
/** Ids are in the order of time: the first is the oldest. No more are counted than take a moment. */
const OUTBOX = `
  SELECT (SELECT count(*) FROM (SELECT FROM "OutboxEvent" LIMIT 10001) AS counted)::int AS entries,
    (SELECT extract(epoch FROM now())::float8 - "occurredAtNs" / 1e9 FROM "OutboxEvent" ORDER BY id LIMIT 1)::float8 AS "oldestSeconds"`;
const AGENTS = `SELECT count(*)::int AS online FROM "Agent" WHERE "leaseExpiresAtNs" > extract(epoch FROM now())::int8 * 1000000000`;

interface QueueRow {
  readonly name: string;
  readonly waiting: number;
  readonly retrying: number;
  readonly active: number;
  readonly failed: number;
  readonly oldestSeconds: number;
}

interface OutboxRow {
  readonly entries: number;
  /** Null: it is empty. */
  readonly oldestSeconds: number | null;
}

interface Observed {
  readonly db: Pick<Database, "pool">;
  readonly metrics: Metrics;
}

/** What only the database knows. Where it does not answer, the metrics say that, and nothing of what was so before. */
export async function observeDatabase(
  { db: { pool }, metrics }: Observed,
  inTime: <T>(work: Promise<T>) => Promise<T>,
): Promise<void> {
  const { totalCount, idleCount, waitingCount } = pool;
  metrics.databaseConnections.set({ state: "busy" }, totalCount - idleCount);
  metrics.databaseConnections.set({ state: "idle" }, idleCount);
  metrics.databaseWaiting.set(waitingCount);
  for (const gauge of [metrics.jobs, metrics.oldestJobSeconds]) gauge.reset();
  try {
    const queues = (await inTime(pool.query<QueueRow>(JOBS))).rows;
    const [agents] = (await inTime(pool.query<{ online: number }>(AGENTS))).rows;
    const [outbox] = (await inTime(pool.query<OutboxRow>(OUTBOX))).rows;
    for (const queue of queues) setQueue(metrics, queue);
    metrics.outboxEntries.set(outbox!.entries);
    metrics.oldestOutboxSeconds.set(Math.max(0, outbox!.oldestSeconds ?? 0));
    metrics.agentsOnline.set(agents!.online);
    metrics.databaseUp.set(1);
  } catch {
    metrics.databaseUp.set(0); // whatever it is: who reads metrics must learn of it by them
    for (const gauge of [metrics.agentsOnline, metrics.outboxEntries, metrics.oldestOutboxSeconds])
      gauge.set(Number.NaN);
  }
}

function setQueue({ jobs, oldestJobSeconds }: Metrics, { name: queue, oldestSeconds, ...row }: QueueRow): void {
  for (const state of ["waiting", "retrying", "active", "failed"] as const) jobs.set({ queue, state }, row[state]);
  oldestJobSeconds.set({ queue }, Math.max(0, oldestSeconds));
}
