import type { Transaction } from "../db/transaction.ts";

/**
 * What the cloud knows of an agent's files, in the form both sides compare: SHA-256 over the lines `versionId state\n`, sorted
 * by code units. Made where the rows are, because an agent may have a hundred thousand of them.
 */
export async function inventoryOf(tx: Transaction, agentId: string): Promise<{ count: number; digest: string }> {
  // A space sorts before all that a version id may hold: sorted by these, the lines are sorted.
  const [inventory] = await tx.$queryRaw<[{ count: number; digest: string }]>`
    SELECT count(*)::int AS count,
      encode(sha256(convert_to(coalesce(
        string_agg("versionId" || ' ' || state || E'\n', '' ORDER BY "versionId" COLLATE "C"), ''), 'UTF8')), 'hex') AS digest
    FROM "EdgeFile" WHERE "agentId" = ${agentId}`;
  return inventory;
}
