import type { Database } from "./client.ts";
import type { Prisma } from "./generated/client.ts";
import { sqlState } from "./sql-state.ts";

export type Transaction = Prisma.TransactionClient;

const MAX_ATTEMPTS = 5;
const TIMEOUT_MS = 60_000;
const MAX_WAIT_MS = 10_000;
const BASE_DELAY_MS = 20;
/** Serialization failure and deadlock: nothing happened, and the same transaction may succeed now. */
const REPEATABLE = new Set(["40001", "40P01"]);

/** Runs `work` in one transaction; repeats it a few times where the database found it in another's way. */
export async function withTransaction<T>(
  db: Pick<Database, "prisma">,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await db.prisma.$transaction(work, { timeout: TIMEOUT_MS, maxWait: MAX_WAIT_MS });
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !REPEATABLE.has(sqlState(error) ?? "")) throw error;
      await new Promise((resolve) => setTimeout(resolve, Math.random() * BASE_DELAY_MS * 2 ** attempt));
    }
  }
}
