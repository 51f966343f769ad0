import assert from "node:assert/strict";
import { after, test } from "node:test";
import { eventually } from "@downlink/recordings/testing";
import { PgBoss } from "pg-boss";
import { pino } from "pino";
import { openDatabase } from "../../db/client.ts";
import { withTransaction } from "../../db/transaction.ts";
import { createMetrics } from "../../process/metrics/metrics.ts";
import { createTestDatabase } from "../../testing/test-database.ts";
import { PgBossQueue } from "./pg-boss-queue.ts";
import type { JobHandlers } from "./queue.ts";
import { jobNames, queueOf } from "./queue-names.ts";

const log = pino({ level: "silent" });
const url = await createTestDatabase({ after });
const db = openDatabase(url, { maxConnections: 4, log });
after(() => db[Symbol.asyncDispose]());

/** The queues of an earlier version whose jobs destroy data without asking whether they may. */
const former = ["remove-object", "reconcile", "sweep"];

/** Works as a process of a former version does. */
async function startFormer(queues: readonly string[], work: (data: unknown) => void) {
  const boss = new PgBoss({ connectionString: url, max: 4 });
  boss.on("error", () => {});
  await boss.start();
  for (const queue of queues) {
    await boss.createQueue(queue, {});
    await boss.work(queue, { pollingIntervalSeconds: 0.5 }, async (jobs) => {
      for (const { data } of jobs) work(data);
    });
  }
  return boss;
}

test("a process of a former version takes no job that destroys from this one, which does what that has queued", async () => {
  const [here, there]: [string[], string[]] = [[], []];
  const note = (data: unknown) => {
    const text = JSON.stringify(data);
    if (text?.includes("made-")) there.push(text); // and not what the clock makes of the former schedules meanwhile
  };
  const boss = await startFormer(["ingest", ...former], note);
  after(() => boss.stop({ graceful: false }));
  for (const name of former.slice(1)) await boss.schedule(name, "* * * * *");
  await using jobs = await PgBossQueue.start({ url, log, metrics: createMetrics() });
  const remove = (blobKey: string) =>
    withTransaction(db, (tx) => jobs.enqueue(tx, { name: "remove-object", data: { blobKey } }));
  await remove("org/made-here");
  // It takes the one that was queued later, so it has looked for all that it knows.
  await withTransaction(db, (tx) =>
    jobs.enqueue(tx, { name: "ingest", data: { orgId: "org", requestId: "made-here" } }),
  );
  await boss.send("remove-object", { blobKey: "org/made-there" });
  await eventually(
    async () => there.length,
    (count) => count === 2,
  );
  await Promise.all(former.map((queue) => boss.offWork(queue)));
  assert.deepEqual(there.sort(), [
    JSON.stringify({ blobKey: "org/made-there" }),
    JSON.stringify({ orgId: "org", requestId: "made-here" }),
  ]);

  await boss.send("remove-object", { blobKey: "org/left-behind" });
  const removeHere: JobHandlers["remove-object"] = async ({ blobKey }) => void here.push(blobKey);
  const get = (_target: unknown, name: string | symbol) => (name === "remove-object" ? removeHere : async () => {});
  await jobs.startWorking(new Proxy<JobHandlers>({} as JobHandlers, { get }), 1);
  await eventually(
    async () => here.length,
    (count) => count === 2,
  );
  assert.deepEqual(here.sort(), ["org/left-behind", "org/made-here"]);
  const { rows } = await db.pool.query("SELECT name FROM pgboss.schedule ORDER BY name");
  assert.deepEqual(
    rows.map(({ name }) => name),
    ["heal", "list-buckets", "reconcile.2", "scrub", "sweep.2", "walk-store"],
  );
});

test("no queue of this version is one of those in which a former version destroys", () => {
  assert.deepEqual(
    jobNames.map(queueOf).filter((queue) => former.includes(queue)),
    [],
  );
});
