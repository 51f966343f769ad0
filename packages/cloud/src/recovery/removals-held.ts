// Objects are not removed from the store while a backup is made, because the copy of the database may name an object that was deleted
// since. A backup holds an advisory lock by a connection of its own, so that nothing stays locked when its process dies. A removal asks for
// the lock first; one that was let through already removes an object whose row was deleted before the backup began.

import type pg from "pg";
import { Prisma } from "../db/generated/client.ts";
import type { Transaction } from "../db/transaction.ts";

/** The first of Postgres's two numbers of an advisory lock; the second one says which lock it is. */
const LOCKS = 72707370;
const REMOVALS = 1;
const ONE_BACKUP = 2;

export interface HeldRemovals extends AsyncDisposable {
  /** Throws if the connection was lost, and the lock with it. */
  requireHeld(): Promise<void>;
}

/** Removals are delayed until this is disposed of. Returns undefined if another backup is being made. */
export async function holdRemovals(pool: pg.Pool): Promise<HeldRemovals | undefined> {
  const client = await pool.connect();
  const [only] = (await client.query(Prisma.sql`SELECT pg_try_advisory_lock(${LOCKS}, ${ONE_BACKUP}) AS taken`)).rows;
  if (!only.taken) {
    client.release();
    return undefined;
  }
  await client.query(Prisma.sql`SELECT pg_advisory_lock(${LOCKS}, ${REMOVALS})`);
  return {
    requireHeld: async () => void (await client.query(Prisma.sql`SELECT 1`)),
    async [Symbol.asyncDispose]() {
      await client.query(Prisma.sql`SELECT pg_advisory_unlock_all()`).catch(() => {}); // a lost connection holds no lock
      client.release(true);
    },
  };
}

/** Says whether a backup is being made. If not, none begins before the transaction ends. */
export async function areRemovalsHeld(tx: Pick<Transaction, "$queryRaw">): Promise<boolean> {
  const [{ isFree }] = await tx.$queryRaw<[{ isFree: boolean }]>`
    SELECT pg_try_advisory_xact_lock_shared(${LOCKS}::int, ${REMOVALS}::int) AS "isFree"`;
  return !isFree;
}
