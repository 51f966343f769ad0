import { type api, type Input, Member } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import type { Shown } from "../../calls/serve/again.ts";
import type { Handlers } from "../../calls/serve/handlers.ts";
import type { Complete } from "../../core/complete.ts";
import { withTransaction } from "../../db/transaction.ts";
import { endUnseenLinks } from "../projects/end-unseen-links.ts";
import { findMember, toMember, withAccount } from "./member-rows.ts";
import { holdMembers, requireAnAdmin, requireHeldRole } from "./require-role.ts";
import { resetPassword } from "./reset-password.ts";

type Contract = typeof api.members;

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
