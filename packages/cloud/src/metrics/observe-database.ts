import type { Database } from "../db/client.ts";
import type { Metrics } from "./metrics.ts";

/** One row a queue, also for an empty one. Those of the queue itself begin with two underscores. */
const JOBS = `
  SELECT q.name,
    count(*) FILTER (WHERE j.state IN ('created', 'retry'))::int AS waiting,
    count(*) FILTER (WHERE j.state = 'active')::int AS active,
    coalesce(extract(epoch FROM now() - min(j.start_after) FILTER (WHERE j.state IN ('created', 'retry'))), 0)::float8 AS "oldestSeconds"
  FROM pgboss.queue q LEFT JOIN pgboss.job j ON j.name = q.name AND j.state IN ('created', 'retry', 'active')
  WHERE NOT starts_with(q.name, '__') GROUP BY q.name`;
const AGENTS = `SELECT count(*)::int AS online FROM "Agent" WHERE "leaseExpiresAtNs" > extract(epoch FROM now())::int8 * 1000000000`;

interface QueueRow {
  readonly name: string;
  readonly waiting: number;
  readonly active: number;
  readonly oldestSeconds: number;
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
    for (const queue of queues) setQueue(metrics, queue);
    metrics.agentsOnline.set(agents!.online);
    metrics.databaseUp.set(1);
  } catch {
    metrics.databaseUp.set(0); // whatever it is: who reads metrics must learn of it by them
    metrics.agentsOnline.set(Number.NaN);
  }
}

function setQueue(
  { jobs, oldestJobSeconds }: Metrics,
  { name: queue, waiting, active, oldestSeconds }: QueueRow,
): void {
  jobs.set({ queue, state: "waiting" }, waiting);
  jobs.set({ queue, state: "active" }, active);
  oldestJobSeconds.set({ queue }, Math.max(0, oldestSeconds));
}
