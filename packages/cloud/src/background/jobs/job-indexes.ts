import type { Db } from "pg-boss";

/** By which the jobs of 100,000 that wait are found: an owner's last one, and those that will remove an object. */
const indexes = {
  job_downlink_owners: "(name, group_id, priority) WHERE state < 'active' AND group_id IS NOT NULL",
  job_downlink_objects: "((data ->> 'blobKey')) WHERE state < 'completed' AND data ->> 'blobKey' IS NOT NULL",
};

/** Makes our indexes of the jobs. Each is made only once, because that waits for all who write jobs, and they wait for it. */
export async function indexJobs(db: Db): Promise<void> {
  for (const [name, definition] of Object.entries(indexes))
    await db.executeSql(`
      DO $$ BEGIN
        IF to_regclass('pgboss.${name}') IS NULL THEN
          PERFORM pg_advisory_xact_lock(hashtext('${name}'));
          CREATE INDEX IF NOT EXISTS ${name} ON pgboss.job ${definition};
        END IF;
      END $$`);
}
