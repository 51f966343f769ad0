import { setTimeout as delay } from "node:timers/promises";
import type { Database } from "./client.ts";
import type { Prisma } from "./generated/client.ts";
import { sqlState } from "./sql-state.ts";

export type Transaction = Prisma.TransactionClient;

const MAX_ATTEMPTS = 5;
/** Of one attempt. */
const TIMEOUT_MS = 60_000;
const WAIT_FOR_CONNECTION_MS = 10_000;
const BASE_DELAY_MS = 20;
/** Serialization failure and deadlock: nothing happened, and the same transaction may succeed now. */
const REPEATABLE = new Set(["40001", "40P01"]);

/**
 * Runs `work` in one transaction and commits it when it resolves. Where the database finds it in another's way, it is
 * repeated, five times in all: `work` must have no effect outside the transaction.
 */
export async function withTransaction<T>(
  db: Pick<Database, "prisma">,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await db.prisma.$transaction(work, { timeout: TIMEOUT_MS, maxWait: WAIT_FOR_CONNECTION_MS });
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !REPEATABLE.has(sqlState(error) ?? "")) throw error;
      await delay(Math.random() * BASE_DELAY_MS * 2 ** attempt);
    }
  }
}
