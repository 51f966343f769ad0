import { type api, type Input, Member, type PasswordReset } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import type { Shown } from "../../calls/serve/again.ts";
import type { Handlers } from "../../calls/serve/handlers.ts";
import type { Complete } from "../../core/complete.ts";
import { refuse } from "../../core/errors.ts";
import { withTransaction } from "../../db/transaction.ts";
import { hashToken, mintToken } from "../../process/credentials/mint.ts";
import { endUnseenLinks } from "../projects/end-unseen-links.ts";
import { findMember, toMember, withAccount } from "./member-rows.ts";
import { holdAccount, holdMembers, requireAnAdmin, requireHeldRole } from "./require-role.ts";

type Contract = typeof api.members;

/** How long the link for a new password is valid. */
const RESET_LIFE_NS = 86_400n * 1_000_000_000n;

export const members: Handlers<Contract> = {
  list: listMembers,
  update: updateMember,
  delete: deleteMember,
  resetPassword,
};

export const shownMember: Shown = {
  schema: Member,
  read: (ctx, { id }: { readonly id: string }) =>
    withTransaction(ctx.db, async (tx) => toMember(await findMember(tx, ctx, id))),
};

async function listMembers(ctx: Ctx, { limit, offset }: Input<Contract["list"]>): Promise<Complete<Member>[]> {
  const rows = await ctx.db.prisma.member.findMany({
    where: { orgId: ctx.caller.orgId },
    orderBy: [{ createdAtNs: "asc" }, { id: "asc" }],
    take: limit,
    skip: offset,
    ...withAccount,
  });
  return rows.map(toMember);
}

/** The rights of members are read at each call, so the new role counts from the next one. */
async function updateMember(ctx: Ctx, { id, role }: Input<Contract["update"]>): Promise<Complete<Member>> {
  const { orgId } = ctx.caller;
  return withTransaction(ctx.db, async (tx) => {
    await holdMembers(tx, orgId);
    const member = await findMember(tx, ctx, id);
    if (member.role !== role) requireHeldRole(ctx, role);
    const row = await tx.member.update({ where: { id }, data: { role }, ...withAccount });
    if (member.role === "admin") await requireAnAdmin(tx, orgId);
    await endUnseenLinks(tx, orgId);
    return toMember(row);
  });
}

/** The sessions and view links of a member are removed with it, and the account with its last membership. */
async function deleteMember(ctx: Ctx, { id }: Input<Contract["delete"]>): Promise<{ id: string }> {
  const { orgId } = ctx.caller;
  return withTransaction(ctx.db, async (tx) => {
    await holdMembers(tx, orgId);
    const { role, accountId } = await findMember(tx, ctx, id);
    await tx.member.delete({ where: { id } });
    if (role === "admin") await requireAnAdmin(tx, orgId);
    await tx.account.deleteMany({ where: { id: accountId, members: { none: {} } } });
    return { id };
  });
}

/**
 * The link goes to the caller, who gives it to the member. So a caller makes it only if it may do all that the member may do, and never for
 * an account that opens another organization, too: the admins there did not ask.
 */
async function resetPassword(
  ctx: Ctx,
  { id }: Input<typeof api.members.resetPassword>,
): Promise<Complete<PasswordReset>> {
  const { db, clock, caller } = ctx;
  if (!ctx.signIns.takesPasswords) refuse("SignInRefused", "passwords are off here: members sign in at the provider");
  const token = mintToken("dl_rst");
  const createdAtNs = clock.nowNs();
  const expiresAtNs = createdAtNs + RESET_LIFE_NS;
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
