import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { createTestDatabase } from "../testing/test-database.ts";
import { type Database, openDatabase } from "./client.ts";
import { withOneConnection } from "./one-connection.ts";
import { prepare } from "./prepared.ts";
import { sqlState, UNIQUE_VIOLATION } from "./sql-state.ts";
import { withTransaction } from "./transaction.ts";

async function openTestDatabase(t: TestContext, maxConnections = 2): Promise<Database> {
  const db = openDatabase(await createTestDatabase(t), { maxConnections, log: { warn: () => {} } });
  t.after(() => db[Symbol.asyncDispose]());
  return db;
}

const selectIds = prepare((db) => db.selectFrom("Organization").select("id"));
const organization = (id: string, name = id) => ({ data: { id, name, createdAtNs: 0n } });

test("Prisma, prepared statements and the pool see one transaction, and nobody else sees it until it commits", async (t) => {
  const db = await openTestDatabase(t);
  await withOneConnection(db, async (inside) => {
    await inside.prisma.organization.create(organization("a"));
    const byStatement = await selectIds(inside, {});
    const byPool = await inside.pool.query(`SELECT id FROM "Organization"`);
    const viaClient = await inside.pool.connect();
    const byClient = await viaClient.query(`SELECT id FROM "Organization"`);
    viaClient.release();
    assert.deepEqual([byStatement, byPool.rows, byClient.rows], [[{ id: "a" }], [{ id: "a" }], [{ id: "a" }]]);
    assert.equal(await db.prisma.organization.count(), 0);
  });
  assert.equal(await db.prisma.organization.count(), 1);
});

test("a transaction begun inside is undone alone if it fails, and together with the whole if that fails", async (t) => {
  const db = await openTestDatabase(t);
  await db.prisma.organization.create(organization("taken"));
  await withOneConnection(db, async (inside) => {
    await withTransaction(inside, (tx) => tx.organization.create(organization("a")));
    const failing = withTransaction(inside, async (tx) => {
      await tx.organization.create(organization("b"));
      await tx.organization.create(organization("c", "taken"));
    });
    await assert.rejects(failing, (error) => sqlState(error) === UNIQUE_VIOLATION);
    await withTransaction(inside, (tx) => tx.organization.create(organization("d")));
  });
  const ids = async () => (await db.prisma.organization.findMany({ orderBy: { id: "asc" } })).map(({ id }) => id);
  assert.deepEqual(await ids(), ["a", "d", "taken"]);
  const whole = withOneConnection(db, async (inside) => {
    await withTransaction(inside, (tx) => tx.organization.create(organization("e")));
    throw new Error("given up");
  });
  await assert.rejects(whole, /given up/);
  assert.deepEqual(await ids(), ["a", "d", "taken"]);
});

test("one connection is enough for a call, and is given back", async (t) => {
  const db = await openTestDatabase(t, 1);
  for (const id of ["a", "b"])
    await withOneConnection(db, async (inside) => {
      await Promise.all([inside.prisma.organization.create(organization(id)), inside.pool.query("SELECT 1")]);
      await withTransaction(inside, (tx) => tx.organization.count());
    });
  assert.equal(await db.prisma.organization.count(), 2);
});

test("a transaction that conflicts with another one is repeated as a whole, on any connection", async (t) => {
  const db = await openTestDatabase(t);
  let attempts = 0;
  await withOneConnection(db, async (inside) => {
    await inside.prisma.organization.create(organization("a"));
    if (++attempts < 3)
      await withTransaction(
        inside,
        (tx) => tx.$executeRaw`DO $$ BEGIN RAISE EXCEPTION 'made by the test' USING ERRCODE = '40001'; END $$`,
      );
  });
  assert.deepEqual([attempts, await db.prisma.organization.count()], [3, 1]);
});
