import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { pipeline } from "node:stream";
import { type TestContext, test } from "node:test";
import { eventually, slowTest } from "@downlink/recordings/testing";
import { createTestDatabase } from "../testing/test-database.ts";
import { type Database, openDatabase } from "./client.ts";
import { Prisma } from "./generated/client.ts";
import { prepare } from "./prepared.ts";
import { newPoolReader, newTransactionReader, type ReadSql } from "./read-sql.ts";
import { SequentialClient } from "./sequential-client.ts";

/** A number beyond those that a double holds exactly. */
const BIG = 9_007_199_254_740_993n;
const ODD_METADATA = [{ ü: [null, 1.5, "\u{1f680}"] }];
const ODD_PATH = 'a\u2028\\"b';
/** AuthenticationOk, ReadyForQuery, and the end of a server that is being stopped. */
const WELCOME_AND_END = Buffer.concat([
  toMessage("R", "\0\0\0\0"),
  toMessage("Z", "I"),
  toMessage("E", "SFATAL\0C57P01\0Mterminating connection due to administrator command\0\0"),
]);

test("Prisma, prepared statements and composed ones read a BIGINT as the same bigint, whichever reads first", async (t) => {
  const { db } = await openTestDatabase(t);
  await db.prisma.organization.create({ data: { id: "a", name: "a", createdAtNs: BIG } });
  const selectTime = prepare((kysely) => kysely.selectFrom("Organization").select("createdAtNs"));
  const composed = Prisma.sql`SELECT "createdAtNs" FROM "Organization"`;
  const readers = [
    async () => (await selectTime(db, {}))[0],
    async () => (await newPoolReader(db)(composed))[0],
    () => db.prisma.organization.findFirstOrThrow({ select: { createdAtNs: true } }),
  ];
  for (const read of [...readers, ...readers.reverse()]) assert.deepEqual(await read(), { createdAtNs: BIG });
});

test("a composed statement reads arrays of BIGINT with empty and missing items, and counts, as bigint", async (t) => {
  const { db } = await openTestDatabase(t);
  const select = Prisma.sql`SELECT ARRAY[1, NULL, -2]::int8[] AS some, '{}'::int8[] AS none, count(*) AS count, ARRAY['x']::text[] AS texts`;
  assert.deepEqual(await newPoolReader(db)(select), [{ some: [1n, null, -2n], none: [], count: 1n, texts: ["x"] }]);
});

test("connections that the server ends, idle or in use, fail only their query, and the next query works", async (t) => {
  const { db, warnings } = await openTestDatabase(t);
  await db.prisma.$queryRaw`SELECT 1`;
  const endAll = Prisma.sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()`;
  const inUse = db.prisma.$transaction((tx) => newTransactionReader(tx)(endAll));
  await assert.rejects(inUse, /terminating connection|Connection terminated/);
  await assert.doesNotReject(newPoolReader(db)(Prisma.sql`SELECT * FROM "Organization"`));
  await assert.doesNotReject(db.prisma.organization.count());
  assert.ok(warnings.every((message) => /idle database connection was lost/.test(message)));
});

test("a connection that ends while it is idle is reported by its reason alone, and by nothing once the pool is being closed", async (t) => {
  const reported: object[] = [];
  const log = { warn: (details: object) => void reported.push(details) };
  const db = openDatabase(await createTestDatabase(t), { maxConnections: 1, log });
  const message = "terminating connection due to administrator command";
  const endIdle = async () => {
    const connection = await db.pool.connect();
    connection.release();
    return () => connection.emit("error", new Error(message));
  };
  (await endIdle())();
  assert.deepEqual(reported, [{ reason: message }]);
  const endLate = await endIdle();
  const closing = db[Symbol.asyncDispose]();
  await Promise.all([closing, once(db.pool, "remove").then(endLate)]);
  assert.deepEqual(reported, [{ reason: message }]);
});

test("a statement that runs for over a minute is ended by the server", async (t) => {
  const { db } = await openTestDatabase(t);
  assert.deepEqual((await db.pool.query("SHOW statement_timeout")).rows, [{ statement_timeout: "1min" }]);
});

slowTest("closing waits for no query that waits for the lock of somebody else", async (t) => {
  const url = await createTestDatabase(t);
  const log = { warn() {} };
  const lock = Prisma.sql`SELECT pg_advisory_xact_lock(1)::text`;
  await using holding = openDatabase(url, { maxConnections: 1, log });
  const closing = openDatabase(url, { maxConnections: 4, log });
  const closed = await holding.prisma.$transaction(async (tx) => {
    await newTransactionReader(tx)(lock);
    const waiting = [
      newPoolReader(closing)(lock),
      closing.prisma.$transaction((own) => newTransactionReader(own)(lock), { timeout: 120_000 }),
    ];
    const ended = Promise.allSettled(waiting);
    await untilWaiting(newTransactionReader(tx), waiting.length);
    await closing[Symbol.asyncDispose]();
    return ended;
  });
  for (const end of closed)
    assert.match(String((end as PromiseRejectedResult).reason), /Connection terminated|not queryable/);
});

test("each of several queries side by side in one transaction gets its own answer, and no warning is printed", async (t) => {
  const { db } = await openTestDatabase(t);
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => void warnings.push(warning);
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
  await new Promise(setImmediate); // warnings are printed a little later
  assert.deepEqual(warnings, []);
});

test("one statement reads a row and its relations, so all of one moment, and no value of them is rounded", async (t) => {
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

test("a server that refuses connections is asked again, so that a restart costs a wait and no failure", async (t) => {
  const port = await freePort();
  const { db, lead } = await openByPort(t, port);
  const server = createServer(lead);
  t.after(() => server.close());
  const asked = db.prisma.$queryRaw`SELECT 1 AS one`;
  await assert.rejects(once(connect(port, "127.0.0.1"), "connect"), { code: "ECONNREFUSED" });
  server.listen(port, "127.0.0.1");
  assert.deepEqual(await asked, [{ one: 1 }]);
});

test("a connection that the server ends in the packet that accepts it is opened again, and the process goes on", async (t) => {
  let accepted = 0;
  const server = createServer((near) =>
    accepted++ < 2 ? void near.once("data", () => near.end(WELCOME_AND_END)) : lead(near),
  );
  t.after(() => server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { db, lead } = await openByPort(t, (server.address() as AddressInfo).port);
  assert.deepEqual(await db.prisma.$queryRaw`SELECT 1 AS one`, [{ one: 1 }]);
  assert.equal(accepted, 3);
});

/** Opens a test's database at a port of the machine; `lead` leads a connection there to it. */
async function openByPort(t: TestContext, port: number): Promise<{ db: Database; lead(near: Socket): void }> {
  const url = new URL(await createTestDatabase(t));
  const socketPath = join(url.searchParams.get("host")!, `.s.PGSQL.${url.port}`);
  url.searchParams.delete("host");
  const { href } = Object.assign(url, { host: `127.0.0.1:${port}` });
  const db = openDatabase(href, { maxConnections: 1, log: { warn() {} } });
  t.after(() => db[Symbol.asyncDispose]());
  return { db, lead: (near) => void pipeline(near, connect(socketPath), near, () => {}) };
}

/** Encodes a message of Postgres' protocol: its type, its length, and its content. */
function toMessage(type: string, content: string): Buffer {
  const head = Buffer.alloc(5, type);
  head.writeInt32BE(content.length + 4, 1);
  return Buffer.concat([head, Buffer.from(content)]);
}

async function untilWaiting(read: ReadSql, count: number): Promise<void> {
  const waits = Prisma.sql`SELECT count(*) FROM pg_locks
    WHERE database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND NOT granted`;
  await eventually(
    () => read<{ count: bigint }>(waits),
    ([row]) => row!.count >= count,
  );
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

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
