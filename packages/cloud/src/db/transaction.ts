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
/** Serialization failure and deadlock: nothing happened, and the same transaction may succeed now. */
const REPEATABLE = new Set(["40001", "40P01"]);

/**
 * Runs `work` in one transaction and commits it when it resolves. Where the database finds it in another's way, it is
 * repeated, five times in all: `work` must have no effect outside the transaction. `timeoutMs` is for what may take longer than
 * a minute, as it touches as many rows as somebody has. Within a transaction already it is a part of that.
 */
export async function withTransaction<T>(
  db: Pick<Database, "prisma" | "tx">,
  work: (tx: Transaction) => Promise<T>,
  { timeoutMs = TIMEOUT_MS }: { timeoutMs?: number } = {},
): Promise<T> {
  const workInTime = async (tx: Transaction) => {
    if (timeoutMs > TIMEOUT_MS) await tx.$executeRawUnsafe(`SET LOCAL statement_timeout = ${timeoutMs}`);
    return work(tx);
  };
  return db.tx ? inSavepoint(db.tx, workInTime) : beginTransaction(db, workInTime, timeoutMs);
}

/** Does what {@link withTransaction} does, but gives statements no longer than usual, whatever the whole may take. */
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

/** A part of a transaction that fails is undone by itself; whoever began the whole repeats it. */
async function inSavepoint<T>(tx: Transaction, work: (tx: Transaction) => Promise<T>): Promise<T> {
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
