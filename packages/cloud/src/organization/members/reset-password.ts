// The link goes to who asks for it, and they give it to the member. So it is made only by who may do all that the member may do, and never
// for an account that opens another organization, too: its admins did not ask.

import type { api, Input, PasswordReset } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import type { Complete } from "../../core/complete.ts";
import { refuse } from "../../core/errors.ts";
import { withTransaction } from "../../db/transaction.ts";
import { hashToken, mintToken } from "../../process/credentials/mint.ts";
import { findMember, toMember } from "./member-rows.ts";
import { holdAccount, holdMembers, requireHeldRole } from "./require-role.ts";

const LIFE_NS = 86_400n * 1_000_000_000n;

export async function resetPassword(
  ctx: Ctx,
  { id }: Input<typeof api.members.resetPassword>,
): Promise<Complete<PasswordReset>> {
  const { db, clock, caller } = ctx;
  if (!ctx.signIns.takesPasswords) refuse("SignInRefused", "passwords are off here: members sign in at the provider");
  const token = mintToken("dl_rst");
  const createdAtNs = clock.nowNs();
  const expiresAtNs = createdAtNs + LIFE_NS;
  return withTransaction(db, async (tx) => {
    await holdMembers(tx, caller.orgId);
    const member = await findMember(tx, ctx, id);
    requireHeldRole(ctx, member.role);
    const { accountId } = member;
    await holdAccount(tx, accountId);
    if ((await tx.accountIdentity.count({ where: { accountId } })) > 0)
      refuse("Conflict", `${member.account.email} has no password, but signs in at the provider`);
    const isElsewhere = (await tx.member.count({ where: { accountId, orgId: { not: caller.orgId } } })) > 0;
    if (isElsewhere && !(caller.kind === "apiKey" && caller.isCommandLine))
      refuse("Conflict", "the account is a member of another organization, too: ask the operator for the link");
    const data = { tokenSha256: hashToken(token), createdAtNs, expiresAtNs };
    await tx.passwordReset.upsert({ where: { accountId }, create: { accountId, ...data }, update: data });
    return { ...toMember(member), expiresAt: expiresAtNs, link: `${ctx.publicUrl()}/sign-in/reset#${token}` };
  });
}
