import type { Database } from "../../db/client.ts";
import { Prisma } from "../../db/generated/client.ts";
import { newPoolReader, writeSql } from "../../db/read-sql.ts";

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
const OURS = Prisma.sql`NOT starts_with(name, '__')`;

const QUEUES = Prisma.sql`
  SELECT name, count(*) FILTER (WHERE state = 'created')::int AS waiting, count(*) FILTER (WHERE state = 'active')::int AS active,
    count(*) FILTER (WHERE state = 'retry')::int AS retrying, count(*) FILTER (WHERE state = 'failed')::int AS failed
  FROM pgboss.job WHERE ${OURS} AND state IN ('created', 'retry', 'active', 'failed') GROUP BY name ORDER BY name`;

const selectFailing = (most: number) => Prisma.sql`
  SELECT id, name, state::text, retry_count + 1 AS attempts, data,
    coalesce(output ->> 'message', output -> 'value' ->> 'message', output::text) AS error,
    CASE WHEN state = 'retry' THEN start_after END AS "nextAt"
  FROM pgboss.job WHERE ${OURS} AND state IN ('retry', 'failed') ORDER BY state = 'failed' DESC, created_on LIMIT ${most}`;

const retryOf = (which: string) => Prisma.sql`
  UPDATE pgboss.job SET state = 'retry', start_after = now(), completed_on = NULL, retry_limit = greatest(retry_limit, retry_count + 1)
  WHERE ${OURS} AND state IN ('retry', 'failed') AND (${which} = 'all' OR id::text = ${which})`;

/** Counts the jobs of each queue that has some. */
export async function countJobs(db: Jobs): Promise<QueueCounts[]> {
  return newPoolReader(db)(QUEUES);
}

/** Returns the jobs whose last attempt failed: first those that are not tried again. */
export async function findFailing(db: Jobs, most: number): Promise<FailingJob[]> {
  return newPoolReader(db)(selectFailing(most));
}

/** Has a job that fails tried again now, or every one of them (`all`). Returns how many there were. */
export async function retryNow(db: Jobs, which: string): Promise<number> {
  return writeSql(db, retryOf(which));
}
