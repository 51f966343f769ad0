import type { ReplicaSet } from "../replica-set.ts";
import type { JobStep } from "./longest-silence.ts";

/**
 * pg-boss keeps of each job its last attempt only. So a trigger writes every change of a job into a table, within the transaction of the
 * change: a killed process or Postgres takes nothing out of it.
 */
const KEEP_JOURNAL = `
  CREATE SCHEMA kills;
  CREATE TABLE kills.step (at timestamptz, queue text, job uuid, request text, kind text);
  CREATE FUNCTION kills.note_step() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO kills.step VALUES (clock_timestamp(), NEW.name, NEW.id, NEW.data ->> 'requestId', CASE
      WHEN NEW.state < 'active' THEN 'queued'
      WHEN NEW.state > 'active' THEN 'ended'
      WHEN TG_OP = 'UPDATE' AND OLD.state = 'active' THEN 'alive'
      ELSE 'begun' END);
    RETURN NULL;
  END $$;
  CREATE TRIGGER kills_step AFTER INSERT OR UPDATE OF state, heartbeat_on ON pgboss.job
    FOR EACH ROW WHEN (NEW.name LIKE 'ingest%' OR NEW.name LIKE 'salvage%') EXECUTE FUNCTION kills.note_step()`;

const STEPS = `SELECT extract(epoch FROM at)::float * 1000 AS "atMs", queue, job AS "jobId", request AS "requestId", kind
  FROM kills.step ORDER BY at`;

/** Begins to write down what happens to jobs. */
export async function keepJobJournal({ postgres }: ReplicaSet): Promise<void> {
  await postgres.query(KEEP_JOURNAL);
}

export function readJobJournal({ postgres }: ReplicaSet): Promise<JobStep[]> {
  return postgres.query<JobStep & Record<string, unknown>>(STEPS);
}
