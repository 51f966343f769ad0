import type { Database } from "../../db/client.ts";
import { SESSION_IDLE_NS } from "../../process/credentials/find-session.ts";

const ROWS_A_STATEMENT = 10_000;

/** Removes the rows of view links that have expired and whose keys made no other one since. */
export async function forgetViewLinks({ prisma }: Pick<Database, "prisma">, nowNs: bigint): Promise<void> {
  await prisma.viewLink.deleteMany({ where: { expiresAtNs: { lte: nowNs } } });
}

const DAY_NS = 86_400_000_000_000n;
/** A training set is listed for so long after it has expired. */
const LISTED_NS = 30n * DAY_NS;

/** Forgets the files of training sets that have expired, which the next sweep removes, and later the sets. */
export async function forgetTrainingSets({ prisma }: Pick<Database, "prisma">, nowNs: bigint): Promise<void> {
  const expired = { state: "ready", expiresAtNs: { lte: nowNs } } as const;
  await prisma.trainingFile.deleteMany({ where: { set: expired } });
  await prisma.trainingSet.updateMany({ where: expired, data: { state: "expired" } });
  const isOver = { state: { not: "building" }, expiresAtNs: { lte: nowNs - LISTED_NS } } as const;
  await prisma.trainingSet.deleteMany({ where: isOver });
}

/** Forgets the thumbnails that projects make no longer: what turned them off was cut short before it had removed them all. */
export async function forgetUnwantedThumbnails({ prisma }: Pick<Database, "prisma">): Promise<void> {
  const ofBuckets = { project: { thumbnails: "own" }, location: { not: null } } as const;
  await prisma.recordingThumbnails.deleteMany({
    where: { recording: { OR: [{ project: { thumbnails: "none" } }, ofBuckets] } },
  });
}

/** Removes the rows of sessions that have ended, of invitations and links for a password that are too old, and of tries that are over. */
export async function forgetSessions({ prisma }: Pick<Database, "prisma">, nowNs: bigint): Promise<void> {
  const hasEnded = [
    { expiresAtNs: { lte: nowNs } },
    { isOfProgram: false, lastUsedAtNs: { lte: nowNs - SESSION_IDLE_NS } },
  ];
  await prisma.signInSession.deleteMany({ where: { OR: hasEnded } });
  await prisma.deviceSignIn.deleteMany({ where: { expiresAtNs: { lte: nowNs } } });
  await prisma.passwordReset.deleteMany({ where: { expiresAtNs: { lte: nowNs } } });
  await prisma.invitation.deleteMany({ where: { expiresAtNs: { lte: nowNs } } });
  await prisma.failedTry.deleteMany({ where: { endsAtNs: { lte: nowNs } } });
}

/** Removes the entries of the audit log from before this time, some at a time. */
export async function forgetAuditEntries({ prisma }: Pick<Database, "prisma">, beforeNs: bigint): Promise<void> {
  let removed: number;
  do {
    removed = await prisma.$executeRaw`
      DELETE FROM "AuditEntry" WHERE id IN (
        SELECT id FROM "AuditEntry" WHERE "atNs" < ${beforeNs} ORDER BY "atNs" LIMIT ${ROWS_A_STATEMENT})`;
  } while (removed === ROWS_A_STATEMENT);
}
