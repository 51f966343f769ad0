// Jobs are begun in turn too, organization by organization and in each kind of job: behind 10,000 imports of one,
// another's begins after as many jobs as are begun at once, whoever else waits.

import type { Db } from "pg-boss";

const INDEX = "job_downlink_owners";

/**
 * Jobs of a queue are taken by priority, and those of one priority as they came. Each owner's next job has the priority below its
 * last one, and never one above what is being worked on: so owners are served in turn, however many jobs each has, nobody saves
 * up turns while it has none, and who has much is passed by nobody twice (start-time fair queueing). Not pg-boss's
 * `groupConcurrency`: it only bounds how many jobs of an owner run at once, which one worker cannot divide, and which leaves
 * workers without work where only one owner has some.
 */
export async function nextPriority(db: Db, name: string, owner: string): Promise<number> {
  const { rows } = await db.executeSql(NEXT_PRIORITY, [name, owner]);
  return Number(rows[0].priority);
}

/** Lowest of a column of 32 bits, of which each round of all owners takes one: it begins anew whenever nothing waits. */
const LOWEST = -(2 ** 31);

const WAITING = "name = $1 AND state < 'active' AND NOT blocked";

/** What waits for its time says where a queue is only while nothing else does: one that was put off long ago stands far ahead. */
export const NEXT_PRIORITY = `
  SELECT greatest(least(served, owned - 1), ${LOWEST}) AS priority FROM (
    SELECT coalesce(
      least(
        (SELECT min(priority) FROM pgboss.job WHERE name = $1 AND state = 'active' AND group_id IS NOT NULL),
        (SELECT priority FROM pgboss.job WHERE ${WAITING} AND start_after <= now() ORDER BY priority DESC, created_on LIMIT 1)),
      (SELECT min(priority) FROM pgboss.job WHERE ${WAITING}),
      0) AS served,
    (SELECT min(priority) FROM pgboss.job WHERE name = $1 AND state < 'active' AND group_id = $2) AS owned) turns`;

/** By which an owner's last job is found among 100,000. Only once, because it waits for whoever writes jobs, and they for it. */
export async function indexOwners(db: Db): Promise<void> {
  await db.executeSql(`
    DO $$ BEGIN
      IF to_regclass('pgboss.${INDEX}') IS NULL THEN
        PERFORM pg_advisory_xact_lock(hashtext('${INDEX}'));
        CREATE INDEX IF NOT EXISTS ${INDEX} ON pgboss.job (name, group_id, priority)
          WHERE state < 'active' AND group_id IS NOT NULL;
      END IF;
    END $$`);
}
