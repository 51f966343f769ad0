import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { slowTest } from "@downlink/recordings/testing";
import { createTestDatabase } from "../testing/test-database.ts";
import { type Database, openDatabase } from "./client.ts";
import { sqlState, UNIQUE_VIOLATION } from "./sql-state.ts";
import { type Transaction, withTransaction } from "./transaction.ts";

slowTest("two transactions that deadlock both end with their work done", async (t) => {
  const db = await openTestDatabase(t);
  await db.prisma.organization.createMany({ data: ["a", "b"].map((id) => ({ id, name: id, createdAtNs: 0n })) });
  const bothHoldOne = meetingOf(2);
  let attempts = 0;
  const addInOrder = (ids: string[]) =>
    withTransaction(db, async (tx) => {
      const isFirst = ++attempts <= 2;
      for (const id of ids) {
        await tx.organization.update({ where: { id }, data: { createdAtNs: { increment: 1n } } });
        if (isFirst && id === ids[0]) await bothHoldOne();
      }
    });
  await Promise.all([addInOrder(["a", "b"]), addInOrder(["b", "a"])]);
  const sums = await db.prisma.organization.findMany({ orderBy: { id: "asc" }, select: { createdAtNs: true } });
  assert.deepEqual(sums, [{ createdAtNs: 2n }, { createdAtNs: 2n }]);
  assert.ok(attempts >= 3, "one was repeated; it may be again, where it takes its lock before the other one wakes");
});

test("a serialization failure is repeated up to five times in all and then thrown", async (t) => {
  const db = await openTestDatabase(t);
  let attempts = 0;
  const failing = withTransaction(db, (tx) => {
    attempts++;
    return raise(tx, "40001");
  });
  await assert.rejects(failing, (error) => sqlState(error) === "40001");
  assert.equal(attempts, 5);
});

test("any other failure is thrown at once, and the work before it is undone", async (t) => {
  const db = await openTestDatabase(t);
  let attempts = 0;
  const failing = withTransaction(db, async (tx) => {
    attempts++;
    await tx.organization.create({ data: { id: "a", name: "same", createdAtNs: 0n } });
    await tx.organization.create({ data: { id: "b", name: "same", createdAtNs: 0n } });
  });
  await assert.rejects(failing, (error) => sqlState(error) === UNIQUE_VIOLATION);
  assert.equal(attempts, 1);
  assert.equal(await db.prisma.organization.count(), 0);
});

test("a transaction with a longer limit gives its own statements as long, and no others", async (t) => {
  const db = await openTestDatabase(t);
  const show = (tx: Transaction) => tx.$queryRaw<[{ statement_timeout: string }]>`SHOW statement_timeout`;
  const [[longer], [usual]] = [
    await withTransaction(db, show, { timeoutMs: 120_000 }),
    await withTransaction(db, show),
  ];
  assert.deepEqual([longer.statement_timeout, usual.statement_timeout], ["2min", "1min"]);
});

async function openTestDatabase(t: TestContext): Promise<Database> {
  const db = openDatabase(await createTestDatabase(t), { maxConnections: 4, log: { warn: () => {} } });
  t.after(() => db[Symbol.asyncDispose]());
  return db;
}

function raise(tx: Transaction, state: string): Promise<unknown> {
  return tx.$executeRawUnsafe(`DO $$ BEGIN RAISE EXCEPTION 'made by the test' USING ERRCODE = '${state}'; END $$`);
}

/** Returns a function whose promises resolve once it was called `size` times. */
function meetingOf(size: number): () => Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let missing = size;
  return () => {
    missing -= 1;
    if (missing === 0) resolve();
    return promise;
  };
}
