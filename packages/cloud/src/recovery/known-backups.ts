// The control plane knows which backups there are, because an import that is in none would be lost with the object store if its file were
// deleted on the device. The ledger has them, too: a database that is set back to before a backup knows of it again.

import type { DeleteSafety } from "../core/delete-safety.ts";
import type { Transaction } from "../db/transaction.ts";

/** Imports are dated by the clocks of the machines that import, a backup by its own: they may differ by so much. */
const CLOCKS_DIFFER_NS = 60_000_000_000n;

interface Backup {
  readonly name: string;
  readonly startedMs: number;
}

/** Records a backup that lacks nothing. */
export async function recordBackup(tx: Transaction, { name: id, startedMs }: Backup): Promise<void> {
  const backup = { id, startedAtNs: BigInt(startedMs) * 1_000_000n };
  await tx.backup.createMany({ data: [backup], skipDuplicates: true });
}

/** The condition that an imported file waits for on its device: a time after its import, or a backup that began after it. */
export type SafetyRule = { readonly periodNs: bigint } | { readonly isInBackupBeforeNs: bigint | null };

/** Finds out what imported files wait for. */
export async function readSafetyRule(tx: Transaction, safety: DeleteSafety): Promise<SafetyRule> {
  if (typeof safety === "number") return { periodNs: BigInt(safety) * 1_000_000_000n };
  const lastNs = await findLastBackup(tx);
  if (lastNs !== null) return { isInBackupBeforeNs: lastNs - CLOCKS_DIFFER_NS };
  return safety === "backup" ? { isInBackupBeforeNs: null } : { periodNs: 0n };
}

/** Returns when the last backup began that lacks nothing; null: there was none. */
export async function findLastBackup(db: Pick<Transaction, "backup">): Promise<bigint | null> {
  const { _max: last } = await db.backup.aggregate({ _max: { startedAtNs: true } });
  return last.startedAtNs;
}
