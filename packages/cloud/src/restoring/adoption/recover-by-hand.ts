import { commandLine, writeEntry } from "../../calls/audit-log/write-entry.ts";
import type { DeploymentModel } from "../../db/generated/models.ts";
import { type Transaction, withTransaction } from "../../db/transaction.ts";
import { endRecovery, openIncarnation } from "../../recovery/incarnations.ts";
import type { Verdict } from "../../recovery/judge-marks.ts";
import { judgeStore, lastOf, type MarkDeps } from "../../recovery/mark-round.ts";
import { type Mark, MarkNotes } from "../../recovery/marks.ts";

/**
 * An admin declares that the present store belongs to this database, whatever the marks say: even an empty one, that of another deployment,
 * or one that another database used until now. Its contents are then compared with the database.
 */
export async function acceptStore(deps: MarkDeps): Promise<void> {
  const marks = await new MarkNotes(deps.blobs).list();
  const reason = "an admin accepted the object store as it is";
  const taking = { marks, reason, operation: "recovery --accept-store", nowNs: deps.clock.nowNs() };
  await withTransaction(deps.db, (tx) => takeStore(tx, taking));
}

interface Taking {
  /** The marks that the store has. */
  readonly marks: readonly Mark[];
  /** A sentence for operators. */
  readonly reason: string;
  /** The command, for the audit log. */
  readonly operation: string;
  readonly nowNs: bigint;
}

/** Opens an incarnation that recovers, and to which the store belongs from now on. */
export async function takeStore(tx: Transaction, { marks, reason, operation, nowNs }: Taking): Promise<void> {
  const others = [...new Set(marks.flatMap(({ incarnation, ancestors }) => [...ancestors, incarnation]))];
  await openIncarnation(tx, { reason, others, nowNs, lastSequence: lastOf(marks) });
  await tx.deployment.update({ where: { id: 1 }, data: { conflict: null } });
  await audit(tx, operation, nowNs);
}

/** An admin gives up what is still missing, for example because devices will never come back. */
export async function endByHand({ db, clock }: MarkDeps): Promise<void> {
  await withTransaction(db, async (tx) => {
    await endRecovery(tx, clock.nowNs());
    await audit(tx, "recovery --end", clock.nowNs());
  });
}

/** An admin has checked the result, so retention and auto-delete of devices need not wait for the end of their day. */
export async function confirmDeletion({ db, clock }: MarkDeps): Promise<void> {
  await withTransaction(db, async (tx) => {
    await tx.deployment.update({ where: { id: 1 }, data: { deletionHeldUntilNs: null } });
    await audit(tx, "recovery --confirm", clock.nowNs());
  });
}

function audit(tx: Transaction, operation: string, nowNs: bigint): Promise<void> {
  const about = { orgId: null, resourceKind: "deployment", resourceId: "deployment" } as const;
  return writeEntry(tx, commandLine, { ...about, nowNs, operation, before: {}, after: {} });
}

/** Returns what an operator must know, in lines. The store is looked at now, as a process does when it starts. */
export async function describeRecovery({ db, blobs, clock }: MarkDeps): Promise<string[]> {
  const verdict = await judgeStore({ db, blobs });
  const row = await db.prisma.deployment.findUniqueOrThrow({ where: { id: 1 } });
  const heldUntilNs = row.deletionHeldUntilNs ?? 0n;
  const agents = await db.prisma.agent.count();
  const listed = await db.prisma.agent.count({ where: { listedIncarnation: row.incarnation } });
  return [
    `incarnation ${row.incarnation}, after ${row.ancestors.length} others`,
    ...describeStanding(row, verdict),
    ...(heldUntilNs > clock.nowNs()
      ? [`retention and auto-delete of devices wait until ${toDate(heldUntilNs)}, or for --confirm`]
      : []),
    `${listed} of ${agents} agents have listed all that they have under this incarnation`,
  ];
}

function describeStanding(
  { recoveringSinceNs, recoveringReason, conflict: known }: DeploymentModel,
  verdict: Verdict,
): string[] {
  const conflict = known ?? (verdict.kind === "conflict" ? verdict.reason : null);
  const lines = [
    ...(verdict.kind === "stop" ? [`nothing starts: ${verdict.reason}`] : []),
    ...(verdict.kind === "open" ? [`${verdict.reason}; as soon as a process runs, it recovers`] : []),
    ...(recoveringSinceNs === null ? [] : [`recovering since ${toDate(recoveringSinceNs)}: ${recoveringReason}`]),
    ...(conflict === null ? [] : [`nothing is destroyed: ${conflict}`]),
  ];
  return lines.length === 0 ? ["database and object store belong together"] : lines;
}

function toDate(timeNs: bigint): string {
  return new Date(Number(timeNs / 1_000_000n)).toISOString();
}
