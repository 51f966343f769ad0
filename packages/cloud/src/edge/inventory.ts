import type { AgentModel } from "../db/generated/models.ts";
import type { Transaction } from "../db/transaction.ts";

interface Inventory {
  readonly count: number;
  readonly digest: string;
}

interface Comparison {
  readonly agent: AgentModel;
  readonly inventory: Inventory;
  /** The cloud's. */
  readonly incarnation: string;
}

/**
 * Whether agent and cloud know the same, and the agent told it to this incarnation of the cloud: one that was restored from a
 * backup wants to hear all again before anything is deleted. Of nothing there is nothing to tell.
 */
export async function isInventoryKnown(
  tx: Transaction,
  { agent, inventory, incarnation }: Comparison,
): Promise<boolean> {
  const known = await inventoryOf(tx, agent.id);
  if (known.count !== inventory.count || known.digest !== inventory.digest) return false;
  if (known.count === 0) await noteListed(tx, agent, incarnation);
  return known.count === 0 || agent.listedIncarnation === incarnation;
}

/** The agent told all that it has. */
export async function noteListed(tx: Transaction, { id }: AgentModel, incarnation: string): Promise<void> {
  await tx.agent.update({ where: { id }, data: { listedIncarnation: incarnation } });
}

/**
 * What the cloud knows of an agent's files, in the form both sides compare: SHA-256 over the lines `versionId state\n`, sorted
 * by code units. Made where the rows are, because an agent may have a hundred thousand of them.
 */
export async function inventoryOf(tx: Transaction, agentId: string): Promise<Inventory> {
  // A space sorts before all that a version id may hold: sorted by these, the lines are sorted.
  const [inventory] = await tx.$queryRaw<[Inventory]>`
    SELECT count(*)::int AS count,
      encode(sha256(convert_to(coalesce(
        string_agg("versionId" || ' ' || state || E'\n', '' ORDER BY "versionId" COLLATE "C"), ''), 'UTF8')), 'hex') AS digest
    FROM "EdgeFile" WHERE "agentId" = ${agentId}`;
  return inventory;
}
