import { setTimeout as delay } from "node:timers/promises";
import type { Database } from "./client.ts";
import type { Prisma } from "./generated/client.ts";
import { sqlState } from "./sql-state.ts";

export type Transaction = Prisma.TransactionClient;

const MAX_ATTEMPTS = 5;
/** The limit of one attempt, and of each of its statements. */
const TIMEOUT_MS = 60_000;
const WAIT_FOR_CONNECTION_MS = 10_000;
const BASE_DELAY_MS = 20;
/** After a serialization failure or a deadlock nothing has happened, and the same transaction may succeed now. */
const REPEATABLE = new Set(["40001", "40P01"]);

/**
 * Runs `work` in one transaction and commits it when `work` resolves. If it conflicts with another transaction it is repeated, up to five
 * times in all: `work` must have no effect outside the transaction. `timeoutMs` is for transactions that may take longer than a minute
 * because the number of their rows has no limit. Inside a transaction it becomes a part of that one.
 */
export async function withTransaction<T>(
  db: Pick<Database, "prisma" | "tx">,
  work: (tx: Transaction) => Promise<T>,
  { timeoutMs = TIMEOUT_MS }: { timeoutMs?: number } = {},
): Promise<T> {
  const workInTime = async (tx: Transaction) => {
    if (timeoutMs > TIMEOUT_MS)
      await tx.$executeRaw`SELECT set_config('statement_timeout', ${String(timeoutMs)}, true)`;
    return work(tx);
  };
  return db.tx ? runInSavepoint(db.tx, workInTime) : beginTransaction(db, workInTime, timeoutMs);
}

/** Does what {@link withTransaction} does, but keeps the usual limit for each statement, however long the whole may take. */
export async function beginTransaction<T>(
  { prisma }: Pick<Database, "prisma">,
  work: (tx: Transaction) => Promise<T>,
  timeoutMs: number,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await prisma.$transaction(work, { timeout: timeoutMs, maxWait: WAIT_FOR_CONNECTION_MS });
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !REPEATABLE.has(sqlState(error) ?? "")) throw error;
      await delay(Math.random() * BASE_DELAY_MS * 2 ** attempt);
    }
  }
}

/** If this part of a transaction fails, it alone is undone; the beginner of the whole repeats the whole. */
async function runInSavepoint<T>(tx: Transaction, work: (tx: Transaction) => Promise<T>): Promise<T> {
  await tx.$executeRaw`SAVEPOINT part`;
  try {
    const result = await work(tx);
    await tx.$executeRaw`RELEASE SAVEPOINT part`;
    return result;
  } catch (error) {
    await tx.$executeRaw`ROLLBACK TO SAVEPOINT part`;
    throw error;
  }
}
