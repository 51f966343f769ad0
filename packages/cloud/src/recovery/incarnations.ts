import { randomUUID } from "node:crypto";
import { Prisma } from "../db/generated/client.ts";
import type { Transaction } from "../db/transaction.ts";
import { postgresNow } from "./postgres-sql.ts";

/** This is above every number that a lost database gave to an agent. */
const LEASES_AHEAD = 1_000_000n;
/** This is above every mark that a process still wrote for a lost database. */
const MARKS_AHEAD = 1000n;
const DELETION_HELD_NS = 24n * 3_600_000_000_000n;

interface Opening {
  /** A sentence for operators. */
  readonly reason: string;
  readonly nowNs: bigint;
  /**
   * The highest number of a mark in the store; undefined if the marks were not listed, so that the next round compares with those that it
   * lists.
   */
  readonly lastSequence?: bigint | undefined;
  /** The other incarnations whose marks are in the store. */
  readonly others?: readonly string[];
}

/**
 * From here on database and store disagree: the deployment gets another incarnation, whose name is returned, and recovers. Each agent's
 * lease ends and its number rises, so that its next call leads to a hello and it lists all its files. Agents are locked first, because a
 * request for permits locks the agent's row before the deployment's.
 */
export async function openIncarnation(
  tx: Transaction,
  { reason, nowNs, lastSequence, others = [] }: Opening,
): Promise<string> {
  await tx.$queryRaw`SELECT id FROM "DeploymentMark" WHERE id = 1 FOR UPDATE`;
  await tx.$queryRaw`SELECT id FROM "Agent" ORDER BY id FOR NO KEY UPDATE`;
  const [before] = await tx.$queryRaw<[{ incarnation: string; ancestors: string[] }]>`
    SELECT incarnation, ancestors FROM "Deployment" WHERE id = 1 FOR UPDATE`;
  const incarnation = randomUUID();
  await tx.deployment.update({
    where: { id: 1 },
    data: {
      incarnation,
      ancestors: [...new Set([...before.ancestors, ...others, before.incarnation])],
      recoveringSinceNs: nowNs,
      recoveringReason: reason,
      deletionHeldUntilNs: nowNs + DELETION_HELD_NS,
    },
  });
  await tx.$executeRaw`
    UPDATE "Agent" SET "leaseNumber" = "leaseNumber" + ${LEASES_AHEAD}, "leaseExpiresAtNs" = least("leaseExpiresAtNs", ${nowNs})`;
  // A session that was ended since the backup must not open anything again, and it is not known which these are: all users sign in once
  // more.
  await tx.signInSession.deleteMany();
  await tx.deviceSignIn.deleteMany();
  await tx.passwordReset.deleteMany();
  await openMarks(tx, lastSequence);
  return incarnation;
}

async function openMarks(tx: Transaction, lastSequence: bigint | undefined): Promise<void> {
  const openedAtNs = lastSequence === undefined ? Prisma.sql`NULL` : postgresNow;
  await tx.$executeRaw`
    UPDATE "DeploymentMark" SET sequence = greatest(sequence, ${lastSequence ?? 0n}) + ${MARKS_AHEAD},
      "openedSequence" = greatest(sequence, ${lastSequence ?? 0n}) + ${MARKS_AHEAD}, "openedAtNs" = ${openedAtNs},
      confirmed = NULL, "confirmedAtNs" = NULL WHERE id = 1`;
}

/** No mark counts as confirmed before the next one, and one that is being written at this moment never does. */
export async function forgetConfirmed(tx: Transaction): Promise<void> {
  await tx.$executeRaw`
    UPDATE "DeploymentMark" SET sequence = sequence + ${MARKS_AHEAD}, "openedSequence" = sequence + ${MARKS_AHEAD},
      confirmed = NULL, "confirmedAtNs" = NULL WHERE id = 1`;
}

/** Ends the recovery, because everything was found or an admin gave up the rest. Whatever waits counts its age from here. */
export async function endRecovery(tx: Transaction, nowNs: bigint): Promise<void> {
  await tx.$queryRaw`SELECT id FROM "Deployment" WHERE id = 1 FOR UPDATE`;
  const isOver = { recoveringSinceNs: null, recoveringReason: null, recoveredAtNs: nowNs };
  await tx.deployment.updateMany({ where: { id: 1, recoveringSinceNs: { not: null } }, data: isOver });
}
