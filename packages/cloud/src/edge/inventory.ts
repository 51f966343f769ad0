import type { AgentModel } from "../db/generated/models.ts";
import type { Transaction } from "../db/transaction.ts";

export interface Inventory {
  readonly count: number;
  readonly digest: string;
}

/**
 * Whether agent and cloud know the same. That it is so is not enough to delete anything: the agent must have told it to this incarnation of
 * the cloud, because one that was restored from a backup wants to hear all again first.
 */
export function isSameInventory(known: Inventory, reported: Inventory): boolean {
  return known.count === reported.count && known.digest === reported.digest;
}

/** The agent told all that it has. */
export async function noteListed(tx: Transaction, { id }: AgentModel, incarnation: string): Promise<void> {
  await tx.agent.update({ where: { id }, data: { listedIncarnation: incarnation } });
}

/**
 * Reads what the cloud knows of an agent's files, in the form both sides compare: SHA-256 over the lines `versionId state\n`, sorted
 * by code units. Made where the rows are, because an agent may have a hundred thousand of them.
 */
export function inventorySql(agentId: string): string {
  // A space sorts before all that a version id may hold: sorted by these, the lines are sorted.
  return `
    SELECT count(*)::int AS count,
      encode(sha256(convert_to(coalesce(
        string_agg(f."versionId" || ' ' || f.state || E'\\n', '' ORDER BY f."versionId" COLLATE "C"), ''), 'UTF8')), 'hex') AS digest
    FROM "EdgeFile" f WHERE f."agentId" = ${agentId}`;
}
