import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { sql } from "kysely";
import { createTestDatabase } from "../testing/test-database.ts";
import { type Database, openDatabase } from "./client.ts";
import { SequentialClient } from "./sequential-client.ts";

/** Beyond what a double holds exactly. */
const BIG = 9_007_199_254_740_993n;
const ODD_METADATA = [{ ü: [null, 1.5, "\u{1f680}"] }];
const ODD_PATH = 'a\u2028\\"b';

test("Prisma and Kysely both read a BIGINT as the same bigint, whichever was first", async (t) => {
  const { db } = await openTestDatabase(t);
  await db.kysely.insertInto("Organization").values({ id: "a", name: "a", createdAtNs: BIG }).execute();
  const readers = [
    () => db.kysely.selectFrom("Organization").select("createdAtNs").executeTakeFirstOrThrow(),
    () => db.prisma.organization.findFirstOrThrow({ select: { createdAtNs: true } }),
  ];
  for (const read of [...readers, ...readers.reverse()]) assert.deepEqual(await read(), { createdAtNs: BIG });
});

test("Kysely reads arrays of BIGINT with empty and missing items, and counts, as bigint", async (t) => {
  const { db } = await openTestDatabase(t);
  const select = sql<object>`SELECT ARRAY[1, NULL, -2]::int8[] AS some, '{}'::int8[] AS none, count(*) AS count, ARRAY['x']::text[] AS texts`;
  const { rows } = await select.execute(db.kysely);
  assert.deepEqual(rows, [{ some: [1n, null, -2n], none: [], count: 1n, texts: ["x"] }]);
});

test("connections that the server ends, idle or in use, fail their query only, and the next one works", async (t) => {
  const { db, warnings } = await openTestDatabase(t);
  await db.prisma.$queryRaw`SELECT 1`;
  const endAll = sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()`;
  const inUse = db.kysely.transaction().execute((tx) => endAll.execute(tx));
  await assert.rejects(inUse, /terminating connection|Connection terminated/);
  await assert.doesNotReject(db.kysely.selectFrom("Organization").selectAll().execute());
  await assert.doesNotReject(db.prisma.organization.count());
  assert.ok(warnings.every((message) => /idle database connection was lost/.test(message)));
});

test("a statement that runs for over a minute is ended by the server", async (t) => {
  const { db } = await openTestDatabase(t);
  assert.deepEqual((await db.pool.query("SHOW statement_timeout")).rows, [{ statement_timeout: "1min" }]);
});

test("queries side by side in one transaction are answered each by its own, and nothing is said on the terminal", async (t) => {
  const { db } = await openTestDatabase(t);
  const said: Error[] = [];
  const onWarning = (warning: Error) => void said.push(warning);
  process.on("warning", onWarning);
  t.after(() => void process.off("warning", onWarning));
  const numbers = Array.from({ length: 20 }, (_, number) => number);
  const answers = await db.prisma.$transaction((tx) =>
    Promise.all(numbers.map((number) => tx.$queryRaw<[{ number: number }]>`SELECT ${number}::int AS number`)),
  );
  assert.deepEqual(
    answers.map(([row]) => row.number),
    numbers,
  );
  const failing = db.prisma.$transaction((tx) => Promise.all([tx.$queryRaw`SELECT 1/0`, tx.$queryRaw`SELECT 1`]));
  await assert.rejects(failing, /division by zero|aborted/);
  await new Promise(setImmediate); // warnings are told a little later
  assert.deepEqual(said, []);
});

test("a row and what belongs to it are read by one statement, and so of one moment; no value of them is rounded", async (t) => {
  const { db } = await openTestDatabase(t);
  await addRecordingWithFile(db);
  const statements = t.mock.method(SequentialClient.prototype, "query");
  const agents = await db.prisma.agent.findMany({ select: { points: true, files: { include: { recording: true } } } });
  assert.equal(statements.mock.callCount(), 1);
  const [{ points, files }] = agents as [(typeof agents)[number]];
  assert.deepEqual(points, [{ agentId: "agt", atNs: BIG, freeBytes: -BIG, bytesPerSecond: 0.1 + 0.2, problems: 1 }]);
  const { sizeBytes, path, recording } = files[0]!;
  assert.deepEqual([sizeBytes, path, recording?.metadata], [BIG, ODD_PATH, ODD_METADATA]);
  const withActivity = await db.prisma.recording.findFirstOrThrow({ select: { activities: true, startNs: true } });
  assert.deepEqual(withActivity.activities[0]?.activity, Uint8Array.of(0, 128, 255));
});

async function openTestDatabase(t: TestContext): Promise<{ db: Database; warnings: string[] }> {
  const warnings: string[] = [];
  const log = { warn: (_details: object, message: string) => void warnings.push(message) };
  const db = openDatabase(await createTestDatabase(t), { maxConnections: 2, log });
  t.after(() => db[Symbol.asyncDispose]());
  return { db, warnings };
}

async function addRecordingWithFile({ prisma }: Database): Promise<void> {
  const orgId = "org";
  await prisma.organization.create({ data: { id: orgId, name: orgId, createdAtNs: BIG } });
  await prisma.project.create({ data: { id: "prj", orgId, name: "p", createdAtNs: 1n } });
  await prisma.recording.create({
    data: {
      ...{ id: "rec", orgId, projectId: "prj", path: ODD_PATH, sizeBytes: BIG, format: "mcap", messageCount: BIG },
      ...{ startNs: -BIG, endNs: BIG, durationNs: 2n * BIG, createdAtNs: BIG, importStatus: "none", isEdge: true },
      metadata: ODD_METADATA,
      activities: { create: { topic: "t", version: "", maxGapNs: BIG, activity: Uint8Array.of(0, 128, 255) } },
    },
  });
  await prisma.site.create({ data: { id: "site", orgId, name: "s", type: "edge", createdAtNs: 1n } });
  await prisma.agent.create({
    data: {
      ...{
        id: "agt",
        orgId,
        siteId: "site",
        leaseNumber: 1n,
        leaseInstanceId: "i",
        leaseExpiresAtNs: BIG,
        lastSeenAtNs: BIG,
      },
      ...{ machineId: "m", agentVersion: "1", facts: {} },
      points: { create: { atNs: BIG, freeBytes: -BIG, bytesPerSecond: 0.1 + 0.2, problems: 1 } },
      files: {
        create: {
          ...{ id: "ef", orgId, versionId: "v", path: ODD_PATH, sizeBytes: BIG, modifiedAtNs: BIG, headTailSha256: "" },
          ...{ state: "indexed", reportedAtNs: BIG, firstReportedAtNs: BIG, recordingId: "rec" },
        },
      },
    },
  });
}
