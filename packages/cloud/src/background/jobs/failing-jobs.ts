import type { Database } from "../../db/client.ts";

type Jobs = Pick<Database, "pool">;

export interface QueueCounts {
  readonly name: string;
  readonly waiting: number;
  readonly active: number;
  readonly retrying: number;
  readonly failed: number;
}

export interface FailingJob {
  readonly id: string;
  readonly name: string;
  /** `retry`: it is tried again by itself; `failed`: it is not. */
  readonly state: "retry" | "failed";
  readonly attempts: number;
  readonly data: unknown;
  /** Null: no reason was kept. */
  readonly error: string | null;
  /** Null: it is not tried again. */
  readonly nextAt: Date | null;
}

/** The queue's own jobs begin with two underscores. */
const OURS = "NOT starts_with(name, '__')";

const QUEUES = `
  SELECT name, count(*) FILTER (WHERE state = 'created')::int AS waiting, count(*) FILTER (WHERE state = 'active')::int AS active,
    count(*) FILTER (WHERE state = 'retry')::int AS retrying, count(*) FILTER (WHERE state = 'failed')::int AS failed
  FROM pgboss.job WHERE ${OURS} AND state IN ('created', 'retry', 'active', 'failed') GROUP BY name ORDER BY name`;

const FAILING = `
  SELECT id, name, state::text, retry_count + 1 AS attempts, data,
    coalesce(output ->> 'message', output -> 'value' ->> 'message', output::text) AS error,
    CASE WHEN state = 'retry' THEN start_after END AS "nextAt"
  FROM pgboss.job WHERE ${OURS} AND state IN ('retry', 'failed') ORDER BY state = 'failed' DESC, created_on LIMIT $1`;

const RETRY = `
  UPDATE pgboss.job SET state = 'retry', start_after = now(), completed_on = NULL, retry_limit = greatest(retry_limit, retry_count + 1)
  WHERE ${OURS} AND state IN ('retry', 'failed') AND ($1 = 'all' OR id::text = $1)`;

/** Counts the jobs of each queue that has some. */
export async function countJobs({ pool }: Jobs): Promise<QueueCounts[]> {
  return (await pool.query<QueueCounts>(QUEUES)).rows;
}

/** Returns the jobs whose last attempt failed: first those that are not tried again. */
export async function findFailing({ pool }: Jobs, most: number): Promise<FailingJob[]> {
  return (await pool.query<FailingJob>(FAILING, [most])).rows;
}

/** Has a job that fails tried again now, or every one of them (`all`). Returns how many there were. */
export async function retryNow({ pool }: Jobs, which: string): Promise<number> {
  return (await pool.query(RETRY, [which])).rowCount ?? 0;
}
