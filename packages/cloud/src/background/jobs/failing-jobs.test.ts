import assert from "node:assert/strict";
import { after, test } from "node:test";
import { startCloud } from "../../testing/start-cloud.ts";
import { countJobs, findFailing, retryNow } from "./failing-jobs.ts";

const { db } = (await startCloud({ after }, { works: false })).deps;

await db.pool.query(`INSERT INTO pgboss.job (name, state, data, output, retry_count, retry_limit, start_after) VALUES
  ('heal', 'failed', '{"of": "dead"}', '{"message": "it is broken"}', 1000, 1000, now() - interval '1 h'),
  ('heal', 'retry', '{"of": "later"}', '{"value": {"message": "job heartbeat timeout"}}', 3, 1000, now() + interval '1 h'),
  ('heal', 'created', '{}', NULL, 0, 1000, now()), 
  ((SELECT name FROM pgboss.queue WHERE starts_with(name, '__') LIMIT 1), 'failed', '{}', NULL, 0, 0, now())`);

test("jobs that fail are listed with the reason, those that nobody tries any more first", async () => {
  assert.partialDeepStrictEqual(await findFailing(db, 10), [
    { name: "heal", state: "failed", attempts: 1001, error: "it is broken", nextAt: null, data: { of: "dead" } },
    { name: "heal", state: "retry", attempts: 4, error: "job heartbeat timeout", data: { of: "later" } },
  ]);
  assert.equal((await findFailing(db, 1)).length, 1);
  const heal = (await countJobs(db)).find(({ name }) => name === "heal");
  assert.deepEqual(heal, { name: "heal", waiting: 1, active: 0, retrying: 1, failed: 1 });
});

test("one of them, or all, are tried again at once, and no other job is touched", async () => {
  const [dead] = await findFailing(db, 1);
  assert.equal(await retryNow(db, "unknown"), 0);
  assert.equal(await retryNow(db, dead!.id), 1);
  const { rows } = await db.pool.query(
    "SELECT state::text, start_after <= now() AS due, retry_limit > retry_count AS may FROM pgboss.job WHERE id = $1",
    [dead!.id],
  );
  assert.deepEqual(rows, [{ state: "retry", due: true, may: true }]);
  assert.equal(await retryNow(db, "all"), 2);
  const [queue] = (await db.pool.query("SELECT state::text FROM pgboss.job WHERE starts_with(name, '__')")).rows;
  assert.equal(queue.state, "failed");
});
