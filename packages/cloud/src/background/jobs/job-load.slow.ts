import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, test } from "node:test";
import { eventually } from "@downlink/recordings/testing";
import { pino } from "pino";
import { openDatabase } from "../../db/client.ts";
import { withTransaction } from "../../db/transaction.ts";
import { createMetrics } from "../../process/metrics/metrics.ts";
import { createTestDatabase } from "../../testing/test-database.ts";
import { countJobs, findFailing, retryNow } from "./failing-jobs.ts";
import { PgBossQueue } from "./pg-boss-queue.ts";
import type { JobHandlers } from "./queue.ts";

const log = pino({ level: "silent" });
const url = await createTestDatabase({ after });
const db = openDatabase(url, { maxConnections: 8, log });
after(() => db[Symbol.asyncDispose]());
const openQueue = () => PgBossQueue.start({ url, log, metrics: createMetrics() });

const WORKERS = 8;
const ORGANIZATIONS = Array.from({ length: 10 }, (_, at) => `org-${at}`);
const JOBS_OF_ONE = 500;
const KINDS = ["ingest", "look-at-object"] as const;
const MANY = ORGANIZATIONS.length * JOBS_OF_ONE * KINDS.length;

function handlersFor(given: Partial<JobHandlers>): JobHandlers {
  return new Proxy({} as JobHandlers, { get: (_target, name) => given[name as "ingest"] ?? (async () => {}) });
}

const numbered = Array.from({ length: JOBS_OF_ONE }, (_, at) => String(at));
const addMany = (jobs: PgBossQueue) =>
  Promise.all(
    ORGANIZATIONS.map((orgId) =>
      withTransaction(db, async (tx) => {
        await jobs.enqueueAll(
          tx,
          "ingest",
          numbered.map((requestId) => ({ orgId, requestId })),
        );
        await jobs.enqueueAll(
          tx,
          "look-at-object",
          numbered.map((name) => ({ orgId, siteId: "site", name })),
        );
      }),
    ),
  );

test("10,000 jobs are each done once; meanwhile a single job of another organization, or of another kind, does not wait for them", async (t) => {
  await using jobs = await openQueue();
  await addMany(jobs);
  const done: string[] = [];
  const all = Promise.withResolvers<void>();
  const late = (orgId: string, requestId: string) =>
    withTransaction(db, (tx) => jobs.enqueue(tx, { name: "ingest", data: { orgId, requestId } }));
  const note = async (job: string) => {
    done.push(job);
    if (done.length === MANY / 4) {
      await late("newcomer", "late");
      const data = { orgId: "org-0", requestId: "other kind" };
      await withTransaction(db, (tx) => jobs.enqueue(tx, { name: "salvage", data }));
    }
    if (done.length === MANY + 2) all.resolve();
  };
  const handlers = handlersFor({
    ingest: ({ orgId, requestId }) => note(`ingest ${orgId} ${requestId}`),
    salvage: ({ requestId }) => note(requestId),
    "look-at-object": ({ orgId, name }) => note(`look ${orgId} ${name}`),
  });
  const [beganMs, usedBefore] = [performance.now(), process.cpuUsage()];
  await jobs.startWorking(handlers, WORKERS);
  await all.promise;
  const { user, system } = process.cpuUsage(usedBefore);
  const perSecond = Math.round((MANY / (performance.now() - beganMs)) * 1000);
  const perProcessorSecond = Math.round((MANY / (user + system)) * 1e6);
  t.diagnostic(
    `${perSecond} jobs a second, ${perProcessorSecond} for each second of a processor that this process used`,
  );
  assert.equal(new Set(done).size, MANY + 2);
  for (const one of ["ingest newcomer late", "other kind"]) {
    const waited = done.indexOf(one) - MANY / 4;
    assert.ok(waited > 0 && waited < MANY / 8, `${one} waited for ${waited} others`);
  }
  for (const kind of ["ingest", "look"]) {
    const firsts = new Set(
      done
        .filter((job) => job.startsWith(kind))
        .slice(0, 100)
        .map((job) => job.split(" ")[1]),
    );
    assert.equal(firsts.size, ORGANIZATIONS.length, `the first 100 jobs of ${kind} are of every organization`);
  }
});

test("a worker that is killed loses no job: another process does them; one that is given up is shown, and is tried again by hand", async () => {
  await using jobs = await openQueue();
  const names = Array.from({ length: 20 }, (_, at) => `held-${at}`);
  await withTransaction(db, (tx) =>
    jobs.enqueueAll(
      tx,
      "ingest",
      names.map((requestId) => ({ orgId: "org", requestId })),
    ),
  );
  const hopeless = names[0]!;
  await db.pool.query(`UPDATE pgboss.job SET retry_limit = 0 WHERE data->>'requestId' = $1`, [hopeless]);
  await killHolderOf((held) => held.includes(hopeless) && held.length >= 4);
  const done: string[] = [];
  await jobs.startWorking(handlersFor({ ingest: async ({ requestId }) => void done.push(requestId) }), 1);
  const others = names.filter((name) => name !== hopeless);
  await eventually(
    async () => done,
    (all) => others.every((name) => all.includes(name)),
  );
  const failing = await eventually(
    () => findFailing(db, 10),
    (found) => found.length > 0,
  );
  assert.deepEqual(
    failing.map(({ state, data }) => [state, data]),
    [["failed", { orgId: "org", requestId: hopeless }]],
  );
  assert.equal((await countJobs(db)).find(({ name }) => name === "ingest")!.failed, 1);
  assert.ok(!done.includes(hopeless));
  assert.equal(await retryNow(db, failing[0]!.id), 1);
  await eventually(
    async () => done,
    (all) => all.includes(hopeless),
  );
  assert.deepEqual([...done].sort(), [...names].sort(), "each is done once");
});

/** Starts a process that takes jobs and never ends them, and kills it once it holds enough. */
async function killHolderOf(isEnough: (held: readonly string[]) => boolean): Promise<void> {
  const script = join(import.meta.dirname, "testing/hold-jobs-child.ts");
  const holder = spawn(process.execPath, [script, url], { stdio: ["ignore", "pipe", "inherit"] });
  const held: string[] = [];
  for await (const line of createInterface(holder.stdout)) {
    held.push(line);
    if (isEnough(held)) break;
  }
  holder.kill("SIGKILL");
  await once(holder, "exit");
}
