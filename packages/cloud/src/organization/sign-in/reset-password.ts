import type { PasswordIsReset, ResetPassword, SeenReset } from "@downlink/protocol";
import type { z } from "zod";
import { writeEntry } from "../../calls/audit-log/write-entry.ts";
import { ApiError } from "../../core/errors.ts";
import { type Transaction, withTransaction } from "../../db/transaction.ts";
import { hashToken } from "../../process/credentials/mint.ts";
import { hashInTurn } from "../../process/passwords/prove-password.ts";
import { setPassword } from "../members/new-password.ts";
import type { Stranger } from "./join.ts";
import { requirePasswordsOn } from "./sign-in.ts";

export async function lookAtReset(ctx: Stranger, token: string): Promise<z.output<typeof SeenReset>> {
  const { account, expiresAtNs: expiresAt } = await findReset(ctx, ctx.db.prisma, hashToken(token));
  return { email: account.email, expiresAt };
}

/** Sets the new password of who holds the link; each organization of the account has it in its audit log. */
export async function resetPassword(
  ctx: Stranger,
  { token, password }: z.output<typeof ResetPassword>,
): Promise<z.output<typeof PasswordIsReset>> {
  requirePasswordsOn(ctx);
  const tokenSha256 = hashToken(token);
  const { email } = (await findReset(ctx, ctx.db.prisma, tokenSha256)).account;
  const passwordHash = await hashInTurn(ctx, { email, address: ctx.address() }, password);
  return withTransaction(ctx.db, async (tx) => {
    const { account } = await useUp(ctx, tx, tokenSha256);
    const ended = await setPassword(tx, { accountId: account.id, passwordHash });
    for (const { id, orgId } of await tx.member.findMany({ where: { accountId: account.id } })) {
      const who = { actorKind: "member", actorId: id, actorName: account.email } as const;
      const actor = { ...who, address: ctx.address(), requestId: ctx.requestId };
      const change = { operation: "session.resetPassword", resourceKind: "member", resourceId: id } as const;
      const after = { email: account.email, endedSessions: ended };
      await writeEntry(tx, actor, { orgId, nowNs: ctx.clock.nowNs(), ...change, after });
    }
    return { ended };
  });
}

async function findReset({ clock }: Stranger, tx: Pick<Transaction, "passwordReset">, tokenSha256: string) {
  const found = await tx.passwordReset.findUnique({ where: { tokenSha256 }, include: { account: true } });
  if (found && found.expiresAtNs > clock.nowNs()) return found;
  throw new ApiError("Unauthenticated", "the link is unknown, used, replaced or too old; ask for another");
}

/** If several calls use the link at the same moment, one of them deletes it, and the others find nothing. */
async function useUp(ctx: Stranger, tx: Transaction, tokenSha256: string) {
  const reset = await findReset(ctx, tx, tokenSha256);
  const { count } = await tx.passwordReset.deleteMany({ where: { tokenSha256 } });
  return count === 1 ? reset : findReset(ctx, tx, tokenSha256);
}
