import type { Database } from "../../db/client.ts";

const ROWS_A_STATEMENT = 10_000;

/** Removes the entries from before this time, some at a time. */
export async function forgetAuditEntries({ prisma }: Pick<Database, "prisma">, beforeNs: bigint): Promise<void> {
  let removed: number;
  do {
    removed = await prisma.$executeRaw`
      DELETE FROM "AuditEntry" WHERE id IN (
        SELECT id FROM "AuditEntry" WHERE "atNs" < ${beforeNs} ORDER BY "atNs" LIMIT ${ROWS_A_STATEMENT})`;
  } while (removed === ROWS_A_STATEMENT);
}
