import { type api, type Input, Invitation } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import type { Shown } from "../../calls/serve/again.ts";
import type { Handlers } from "../../calls/serve/handlers.ts";
import type { Complete } from "../../core/complete.ts";
import { refuse, throwNotFound } from "../../core/errors.ts";
import type { InvitationModel } from "../../db/generated/models.ts";
import { newId } from "../../db/ids.ts";
import { hashToken, mintToken } from "../../process/credentials/mint.ts";
import { requireHeldRole } from "./require-role.ts";

type Contract = typeof api.invitations;

const LIFE_NS = 7n * 86_400n * 1_000_000_000n;

export const invitations: Handlers<Contract> = {
  list: listInvitations,
  create: createInvitation,
  delete: deleteInvitation,
};
export const shownInvitation: Shown = { schema: Invitation, read: getInvitation };

async function listInvitations(ctx: Ctx, { limit, offset }: Input<Contract["list"]>): Promise<Complete<Invitation>[]> {
  const rows = await ctx.db.prisma.invitation.findMany({
    where: { orgId: ctx.caller.orgId },
    orderBy: [{ createdAtNs: "asc" }, { id: "asc" }],
    take: limit,
    skip: offset,
  });
  return rows.map(toInvitation);
}

async function getInvitation(ctx: Ctx, { id }: { readonly id: string }): Promise<Complete<Invitation>> {
  const row = await ctx.db.prisma.invitation.findFirst({ where: { id, orgId: ctx.caller.orgId } });
  return row ? toInvitation(row) : throwNotFound(`invitation ${id}`);
}

/** The secret stands behind # in the link, which browsers send to no server and write into no log. */
async function createInvitation(ctx: Ctx, body: Input<Contract["create"]>): Promise<Complete<Invitation>> {
  const { email, role } = body;
  requireHeldRole(ctx, role);
  const { orgId } = ctx.caller;
  if ((await ctx.db.prisma.member.count({ where: { orgId, account: { email } } })) > 0)
    refuse("NameTaken", `${email} is a member of the organization already`);
  const token = mintToken("dl_inv");
  const nowNs = ctx.clock.nowNs();
  const times = { createdAtNs: nowNs, expiresAtNs: nowNs + LIFE_NS };
  const data = { id: newId("inv"), orgId, email, role, tokenSha256: hashToken(token), ...times };
  const row = await ctx.db.prisma.invitation.create({ data });
  return { ...toInvitation(row), link: `${ctx.publicUrl()}/sign-in/invitation#${token}` };
}

async function deleteInvitation(ctx: Ctx, { id }: Input<Contract["delete"]>): Promise<{ id: string }> {
  const { count } = await ctx.db.prisma.invitation.deleteMany({ where: { id, orgId: ctx.caller.orgId } });
  return count === 1 ? { id } : throwNotFound(`invitation ${id}`);
}

function toInvitation(row: InvitationModel): Complete<Invitation> {
  const { id, email, role, createdAtNs: createdAt, expiresAtNs: expiresAt } = row;
  return { id, email, role, createdAt, expiresAt, link: undefined };
}
