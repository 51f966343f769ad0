import { createHash } from "node:crypto";
import type { Transaction } from "../db/transaction.ts";

/** What the cloud knows of an agent's files, in the form both sides compare: SHA-256 over sorted `versionId state\n` lines. */
export async function inventoryOf(tx: Transaction, agentId: string): Promise<{ count: number; digest: string }> {
  const rows = await tx.edgeFile.findMany({ where: { agentId }, select: { versionId: true, state: true } });
  const lines = rows.map(({ versionId, state }) => `${versionId} ${state}\n`).sort();
  const hash = createHash("sha256");
  for (const line of lines) hash.update(line);
  return { count: rows.length, digest: hash.digest("hex") };
}
