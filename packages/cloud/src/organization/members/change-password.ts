import type { api, Input } from "@downlink/protocol";
import { findActor } from "../../calls/audit-log/find-actor.ts";
import { writeEntry } from "../../calls/audit-log/write-entry.ts";
import type { Ctx } from "../../calls/context/context.ts";
import { refuse } from "../../core/errors.ts";
import { withTransaction } from "../../db/transaction.ts";
import { hashInTurn, provePassword } from "../../process/passwords/prove-password.ts";
import { setPassword } from "./new-password.ts";

/** A refusal is no 401, which would say that the session has ended. */
export async function changePassword(
  ctx: Ctx,
  { password, newPassword }: Input<typeof api.me.changePassword>,
): Promise<{ ended: number }> {
  const { caller, db, clock } = ctx;
  if (caller.kind !== "member" || caller.isOfProgram)
    refuse("WrongCredentialKind", "only a member who signed in with a browser has a password to change");
  if (!ctx.signIns.takesPasswords) refuse("SignInRefused", "passwords are off here: sign in at the provider");
  const { memberId, accountId, sessionId, orgId } = caller;
  const { email } = await db.prisma.account.findUniqueOrThrow({ where: { id: accountId } });
  const tried = { email, address: ctx.address(), accountId };
  const account = await provePassword(ctx, tried, password);
  if (!account) refuse("SignInRefused", "password is not the one that counts until now");
  const passwordHash = await hashInTurn(ctx, tried, newPassword);
  return withTransaction(db, async (tx) => {
    const ended = await setPassword(tx, { accountId, passwordHash, sessionId });
    const change = { operation: "me.changePassword", resourceKind: "member", resourceId: memberId } as const;
    const after = { email, endedSessions: ended };
    await writeEntry(tx, await findActor(tx, ctx), { orgId, nowNs: clock.nowNs(), ...change, after });
    return { ended };
  });
}
