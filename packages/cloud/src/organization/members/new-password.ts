// A new password ends what an old one began: every session, also of programs, every program's sign-in that was approved, and any other link.

import type { Transaction } from "../../db/transaction.ts";

interface NewPassword {
  readonly accountId: string;
  readonly passwordHash: string;
  /** The session that stays: that of who changes their own password. */
  readonly sessionId?: string;
}

/** Sets it, and returns how many sessions ended. */
export async function setPassword(tx: Transaction, given: NewPassword): Promise<number> {
  const { accountId, passwordHash, sessionId } = given;
  await tx.account.update({ where: { id: accountId }, data: { passwordHash } });
  await tx.passwordReset.deleteMany({ where: { accountId } });
  const ofAccount = { member: { accountId } };
  await tx.deviceSignIn.deleteMany({ where: ofAccount });
  const others = sessionId === undefined ? ofAccount : { ...ofAccount, id: { not: sessionId } };
  return (await tx.signInSession.deleteMany({ where: others })).count;
}
