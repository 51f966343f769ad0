import type { AgentModel } from "../../db/generated/models.ts";
import type { Transaction } from "../../db/transaction.ts";

export interface Inventory {
  readonly count: number;
  readonly digest: string;
}

/**
 * Says whether agent and cloud know the same files. That alone does not allow any deletion: the agent must have listed its files to this
 * incarnation of the cloud, because one that was restored from a backup needs a new listing first.
 */
export function isSameInventory(known: Inventory, reported: Inventory): boolean {
  return known.count === reported.count && known.digest === reported.digest;
}

/** The agent has listed all of its files. */
export async function noteListed(tx: Transaction, { id }: AgentModel, incarnation: string): Promise<void> {
  await tx.agent.update({ where: { id }, data: { listedIncarnation: incarnation } });
}

/**
 * Makes the SQL for the digest of an agent's files that both sides compare: SHA-256 over the lines `versionId state
 * `, sorted by code units. The database computes it, because an agent may have a hundred thousand files.
 */
export function inventorySql(agentId: string): string {
  // A space sorts before every character of a version id, so sorting by these columns sorts the lines.
  return `
    SELECT count(*)::int AS count,
      encode(sha256(convert_to(coalesce(
        string_agg(f."versionId" || ' ' || f.state || E'\\n', '' ORDER BY f."versionId" COLLATE "C"), ''), 'UTF8')), 'hex') AS digest
    FROM "EdgeFile" f WHERE f."agentId" = ${agentId}`;
}
