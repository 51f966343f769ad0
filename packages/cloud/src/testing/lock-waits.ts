import { eventually } from "@downlink/recordings/testing";
import type { Database } from "../db/client.ts";
import type { Transaction } from "../db/transaction.ts";

/**
 * Counts the connections to this database that wait for a lock of another one. The pool is asked, and not a transaction of the test: within
 * one, `pg_stat_activity` stays as it was when it was first read, without the connections that were opened since.
 */
export async function countLockWaits({ pool }: Pick<Database, "pool">): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    "SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
  );
  return rows[0]!.count;
}

/** Resolves once some connection waits for what a transaction of the test has locked. */
export async function untilBlocking(
  { pool }: Pick<Database, "pool">,
  tx: Pick<Transaction, "$queryRaw">,
): Promise<void> {
  const [own] = await tx.$queryRaw<[{ pid: number }]>`SELECT pg_backend_pid() AS pid`;
  const blocked = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND $1 = ANY(pg_blocking_pids(pid))";
  await eventually(
    async () => (await pool.query(blocked, [own.pid])).rowCount!,
    (count) => count > 0,
  );
}

/** Resolves once at least so many connections wait for a lock of another one. */
export async function untilLockWaits(db: Pick<Database, "pool">, least = 1): Promise<void> {
  await eventually(
    () => countLockWaits(db),
    (count) => count >= least,
  );
}
