// A transaction that destroys something also reads the deployment's row and locks it (`FOR SHARE`). The transaction that opens another
// incarnation (`FOR UPDATE`) waits for it, and every later one sees the new incarnation. A process never remembers any of this, because it
// may outlive the restore of its database. Columns that change with every mark are in a row of their own, so that marks do not wait for
// these locks.

import type { Database } from "../db/client.ts";
import { type Transaction, withTransaction } from "../db/transaction.ts";
import { postgresNow, postgresStanding } from "./postgres-sql.ts";
import { areRemovalsHeld } from "./removals-held.ts";

/** Marks are written each minute; without one for this long, the store may have become another one. */
const CONFIRMED_FOR_NS = 120_000_000_000n;
/** Longer than a transaction may take in all: Postgres does not end it while `act` waits for a slow store. */
const ACT_TIMEOUT_MS = 90_000;
/** A confirmation may be this far in the future, because the clock of Postgres may be set back a little. */
const CONFIRMED_AHEAD_NS = 60_000_000_000n;

/** Values that stay as they are until the transaction ends. Times are those of the control plane's clock. */
export interface HeldDeployment {
  readonly incarnation: string;
  readonly isRecovering: boolean;
  /** Whatever waits counts its age from this time at the earliest; null: from its own beginning. */
  readonly recoveredAtNs: bigint | null;
  /** Until this time nothing is deleted on devices for its age or because it was imported. */
  readonly deletionHeldUntilNs: bigint | null;
  /** When an object of the store was last found damaged; null: never. */
  readonly damageSeenAtNs: bigint | null;
  /** The reason why nothing may be destroyed; undefined if it may. */
  readonly danger: string | undefined;
}

interface Row extends Omit<HeldDeployment, "danger"> {
  readonly recoveringReason: string | null;
  readonly conflict: string | null;
  readonly isConfirmed: boolean;
  readonly isSamePostgres: boolean;
}

/** Locks the deployment's row for the rest of the transaction. */
export async function holdDeployment(tx: Transaction): Promise<HeldDeployment> {
  const [row] = await tx.$queryRaw<[Row]>`
    SELECT d.incarnation, d."recoveringSinceNs" IS NOT NULL AS "isRecovering", d."recoveringReason", d."recoveredAtNs",
      d."deletionHeldUntilNs", d."damageSeenAtNs", d.conflict, m.postgres IS NOT DISTINCT FROM ${postgresStanding} AS "isSamePostgres",
      coalesce(m."confirmedAtNs" BETWEEN ${postgresNow} - ${CONFIRMED_FOR_NS} AND ${postgresNow} + ${CONFIRMED_AHEAD_NS}, false)
        AS "isConfirmed"
    FROM "Deployment" d JOIN "DeploymentMark" m ON m.id = 1 WHERE d.id = 1 FOR SHARE OF d`;
  return { ...row, danger: dangerOf(row) };
}

function dangerOf({ conflict, isRecovering, recoveringReason, isSamePostgres, isConfirmed }: Row): string | undefined {
  if (conflict !== null) return conflict;
  if (isRecovering) return `this control plane recovers: ${recoveringReason}`;
  if (!isSamePostgres)
    return "Postgres was started again or is another one, and the store was not compared with it yet";
  if (!isConfirmed) return "the store has not confirmed a mark for two minutes";
  return undefined;
}

/** Something may not be destroyed now, but perhaps later. */
export class NotSafeError extends Error {
  constructor(danger: string) {
    super(`nothing is destroyed now: ${danger}`);
    this.name = "NotSafeError";
  }
}

/** Throws a {@link NotSafeError} if something could be destroyed that another database or store still needs. */
export async function requireSafeToDestroy(tx: Transaction): Promise<HeldDeployment> {
  const held = await holdDeployment(tx);
  if (held.danger !== undefined) throw new NotSafeError(held.danger);
  return held;
}

/** Does the same for removals from the object store, which also wait for the end of a backup. */
export async function requireRemovable(tx: Transaction): Promise<HeldDeployment> {
  const held = await holdForRemoval(tx);
  if (held.danger !== undefined) throw new NotSafeError(held.danger);
  return held;
}

/** Locks the deployment's row, and keeps backups from beginning, for the rest of the transaction. */
export async function holdForRemoval(tx: Transaction): Promise<HeldDeployment> {
  const held = await holdDeployment(tx);
  if (held.danger === undefined && (await areRemovalsHeld(tx))) return { ...held, danger: "a backup is being made" };
  return held;
}

/**
 * Removes something from the object store while the deployment's row is locked, so that another incarnation is opened only after it. `act`
 * must be harmless when it is repeated. Throws a {@link NotSafeError} instead if nothing may be destroyed.
 */
export async function removeWhileSafe(db: Pick<Database, "prisma">, act: () => Promise<void>): Promise<void> {
  await withTransaction(db, async (tx) => {
    await tx.$executeRaw`SELECT set_config('idle_in_transaction_session_timeout', ${String(ACT_TIMEOUT_MS)}, true)`;
    await requireRemovable(tx);
    await act();
  });
}

/** Says whether something that has waited since before the cutoff may be given up: its age counts from the end of the recovery. */
export function mayGiveUp({ danger, recoveredAtNs }: HeldDeployment, cutoffNs: bigint): boolean {
  return danger === undefined && (recoveredAtNs === null || recoveredAtNs < cutoffNs);
}

/** Says whether database and store disagree; that does not change until the transaction ends. */
export async function isRecovering(tx: Transaction): Promise<boolean> {
  return (await holdDeployment(tx)).isRecovering;
}
