import assert from "node:assert/strict";
import { after, test } from "node:test";
import { pino } from "pino";
import { openDatabase } from "../../db/client.ts";
import { withTransaction } from "../../db/transaction.ts";
import { createMetrics } from "../../process/metrics/metrics.ts";
import { createTestDatabase } from "../../testing/test-database.ts";
import { NEXT_PRIORITY } from "./fair-order.ts";
import { PgBossQueue } from "./pg-boss-queue.ts";
import type { JobHandlers } from "./queue.ts";

const log = pino({ level: "silent" });
const url = await createTestDatabase({ after });
const db = openDatabase(url, { maxConnections: 8, log });
after(() => db[Symbol.asyncDispose]());
const MANY = 200;
/** The number of jobs that a worker begins at once. */
const A_FETCH = 2;

const openQueue = () => PgBossQueue.start({ url, log, metrics: createMetrics() });

function add(jobs: PgBossQueue, orgId: string, names: readonly string[]): Promise<void> {
  return withTransaction(db, async (tx) => {
    for (const requestId of names) await jobs.enqueue(tx, { name: "ingest", data: { orgId, requestId } });
  });
}

function numbered(name: string, count: number): string[] {
  return Array.from({ length: count }, (_, n) => `${name}${n}`);
}

function handlersFor(ingest: JobHandlers["ingest"]): JobHandlers {
  const nothing = async () => {};
  return {
    ingest,
    "ingest-large": nothing,
    "index-recording": nothing,
    "read-stored": nothing,
    salvage: nothing,
    "prepare-view": nothing,
    "build-training-set": nothing,
    "make-thumbnails": nothing,
    "look-at-object": nothing,
    "judge-listed": nothing,
    "list-bucket": nothing,
    "list-buckets": nothing,
    "remove-object": nothing,
    reconcile: nothing,
    sweep: nothing,
    scrub: nothing,
    "back-up": nothing,
    "walk-store": nothing,
    heal: nothing,
  };
}

/** Returns the jobs in the order in which they will begin. */
function waiting(): Promise<{ request: string; priority: number }[]> {
  return db.prisma.$queryRaw`
    SELECT data->>'requestId' AS request, priority FROM pgboss.job
    WHERE name = 'ingest' AND state IN ('created', 'retry') ORDER BY priority DESC, created_on`;
}

/** Works until so many jobs are done, one of which may fail by `act`; returns them in the order in which they began. */
async function work(jobs: PgBossQueue, expected: { done: number; workers: number }, act: Act = async () => {}) {
  const begun: string[] = [];
  const done: string[] = [];
  const all = Promise.withResolvers<void>();
  const ingest: JobHandlers["ingest"] = async ({ requestId }) => {
    begun.push(requestId);
    await act(requestId, begun);
    done.push(requestId);
    if (done.length === expected.done) all.resolve();
  };
  await jobs.startWorking(handlersFor(ingest), expected.workers);
  await all.promise;
  return { begun, done };
}

type Act = (requestId: string, begun: readonly string[]) => Promise<void>;

for (const workers of [1, 2])
  test(`with ${workers} at work, the only job of an organization comes next, however many of another one wait`, async () => {
    await using jobs = await openQueue();
    const ofA = numbered("a", MANY);
    await add(jobs, "A", ofA);
    let came = MANY; // Counts the jobs that had begun when those of B became visible: a slow transaction lets others pass.
    const { begun } = await work(jobs, { done: MANY + 2, workers }, async (requestId, soFar) => {
      if (requestId !== "a20") return;
      await add(jobs, "B", ["b0", "b1"]);
      came = soFar.length;
    });
    const [first, second] = ["b0", "b1"].map((name) => begun.indexOf(name)) as [number, number];
    assert.ok(first - came <= A_FETCH * workers, `${first - came} jobs later`);
    assert.ok(second - first <= 2 * A_FETCH * workers + 1, `${second - first} jobs later`);
    assert.deepEqual(begun.toSorted(), [...ofA, "b0", "b1"].sort(), "each once");
  });

test("organizations are served by turns, and each one's jobs in the order in which they came", async () => {
  await using jobs = await openQueue();
  await add(jobs, "A", numbered("a", 6));
  await add(jobs, "B", numbered("b", 3));
  await add(jobs, "A", ["a6"]);
  assert.deepEqual(
    (await waiting()).map(({ request }) => request),
    "a0 b0 a1 b1 a2 b2 a3 a4 a5 a6".split(" "),
  );
  await db.prisma.$executeRaw`DELETE FROM pgboss.job WHERE name = 'ingest'`;
});

test("an organization that adds one job after another does not hold up one with many", async () => {
  await using jobs = await openQueue();
  await add(jobs, "A", numbered("a", 20));
  const { begun } = await work(jobs, { done: 80, workers: 1 }, async (_requestId, { length: count }) => {
    if (count <= 60) await add(jobs, "B", [`b${count}`]);
  });
  assert.ok(begun.indexOf("a19") <= 3 * 20, `the last of A after ${begun.indexOf("a19")} jobs`);
});

test("a job that fails is tried again, and a delayed one comes when it is due", async () => {
  await using jobs = await openQueue();
  await add(jobs, "A", numbered("a", 20));
  await withTransaction(db, (tx) =>
    jobs.enqueue(tx, { name: "ingest", data: { orgId: "A", requestId: "late" }, delaySeconds: 1 }),
  );
  const failing = new Set(["a3", "a7"]);
  const { done } = await work(jobs, { done: 21, workers: 2 }, async (requestId) => {
    if (failing.delete(requestId)) throw new Error("EIO");
  });
  assert.deepEqual(done.toSorted(), [...numbered("a", 20), "late"].sort());
});

test("after a long delay of some jobs, a new organization is not held up, nor put before all others", async () => {
  await using jobs = await openQueue();
  const far = { delaySeconds: 3600 };
  await add(jobs, "A", numbered("a", 50));
  await withTransaction(db, (tx) =>
    jobs.enqueue(tx, { name: "ingest", data: { orgId: "A", requestId: "far" }, ...far }),
  );
  await withTransaction(db, (tx) =>
    jobs.enqueue(tx, { name: "ingest", data: { orgId: "B", requestId: "near" }, ...far }),
  );
  await db.prisma.$executeRaw`DELETE FROM pgboss.job WHERE name = 'ingest' AND start_after < now()`;
  await add(jobs, "C", ["c0"]);
  assert.deepEqual(await waiting(), [
    { request: "near", priority: 0 },
    { request: "far", priority: -50 },
    { request: "c0", priority: -50 },
  ]);
  await db.prisma.$executeRaw`DELETE FROM pgboss.job WHERE name = 'ingest'`;
});

test("recordings to be indexed again take turns too, and the removal of an object counts for its organization", async () => {
  await using jobs = await openQueue();
  await withTransaction(db, async (tx) => {
    await jobs.enqueueIndexing(tx, "A", ["r0", "r1", "r2"]);
    await jobs.enqueueIndexing(tx, "B", ["r3"]);
    for (const key of ["A/upl_0", "A/upl_1", "B/upl_0"])
      await jobs.enqueue(tx, { name: "remove-object", data: { blobKey: key } });
  });
  const rows = await db.prisma.$queryRaw<{ turns: string }[]>`
    SELECT concat_ws(' ', name, group_id, priority) AS turns FROM pgboss.job
    WHERE name IN ('index-recording', 'remove-object.2') ORDER BY name, group_id, priority DESC`;
  assert.deepEqual(
    rows.map(({ turns }) => turns),
    [
      "index-recording A 0",
      "index-recording A -1",
      "index-recording A -2",
      "index-recording B 0",
      "remove-object.2 A 0",
      "remove-object.2 A -1",
      "remove-object.2 B 0",
    ],
  );
});

test("indexes find the next job among 100,000", async () => {
  await using _queue = await openQueue();
  await db.prisma.$executeRaw`
    INSERT INTO pgboss.job (name, data, group_id, priority)
    SELECT 'ingest', '{}', 'A' || n % 2, -n FROM generate_series(1, 100000) n`;
  await db.prisma.$executeRaw`ANALYZE pgboss.job`;
  for (const owner of ["A0", "B"]) {
    const [explained] = await db.prisma.$queryRawUnsafe<[{ "QUERY PLAN": [{ Plan: object }] }]>(
      `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${NEXT_PRIORITY}`,
      "ingest",
      owner,
    );
    const plan = explained["QUERY PLAN"][0].Plan as Record<string, number>;
    assert.ok(plan["Shared Hit Blocks"]! + plan["Shared Read Blocks"]! < 50, JSON.stringify(plan, undefined, 1));
  }
});
