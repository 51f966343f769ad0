import type { Database } from "../../db/client.ts";
import { SESSION_IDLE_NS } from "./find-session.ts";

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
