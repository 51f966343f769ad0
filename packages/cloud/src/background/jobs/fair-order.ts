// Jobs of each kind begin by turns: if 10,000 imports of one organization wait, another one's import begins after as many as begin at once.
// We do not use pg-boss's `groupConcurrency`: it only bounds how many jobs of an owner run at once, which one worker cannot divide, and it
// leaves workers idle if only one owner has jobs.

import type { Db } from "pg-boss";

/**
 * Jobs are taken by priority, then in the order in which they came. Each owner's next job has the priority below its last one, and never
 * one above the jobs that are being worked on. So owners are served by turns; an owner without jobs saves up no turns, and no owner passes
 * a busy one twice (start-time fair queueing).
 */
export async function nextPriority(db: Db, name: string, owner: string): Promise<number> {
  const { rows } = await db.executeSql(NEXT_PRIORITY, [name, owner]);
  return Number(rows[0].priority);
}

/** The lowest value of a column of 32 bits. Each round of all owners takes one value, and the count starts over whenever nothing waits. */
const LOWEST = -(2 ** 31);

const WAITING = "name = $1 AND state < 'active' AND NOT blocked";

/** A delayed job shows the position of a queue only if nothing else does: one that was delayed long ago stands far ahead. */
export const NEXT_PRIORITY = `
  SELECT greatest(least(served, owned - 1), ${LOWEST}) AS priority FROM (
    SELECT coalesce(
      least(
        (SELECT min(priority) FROM pgboss.job WHERE name = $1 AND state = 'active' AND group_id IS NOT NULL),
        (SELECT priority FROM pgboss.job WHERE ${WAITING} AND start_after <= now() ORDER BY priority DESC, created_on LIMIT 1)),
      (SELECT min(priority) FROM pgboss.job WHERE ${WAITING}),
      0) AS served,
    (SELECT min(priority) FROM pgboss.job WHERE name = $1 AND state < 'active' AND group_id = $2) AS owned) turns`;
