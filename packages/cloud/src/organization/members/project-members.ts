import type { api, Input } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import type { Handlers } from "../../calls/serve/handlers.ts";
import { throwNotFound } from "../../core/errors.ts";
import { type Transaction, withTransaction } from "../../db/transaction.ts";
import { endUnseenLinks } from "../projects/end-unseen-links.ts";
import { requireProjects } from "../projects/find-project.ts";
import { holdMembers } from "./require-role.ts";

type Contract = typeof api.projectMembers;

export const projectMembers: Handlers<Contract> = { get: getProjectMembers, put: putProjectMembers };

async function getProjectMembers(ctx: Ctx, { id }: Input<Contract["get"]>): Promise<{ memberIds: string[] }> {
  const [projectId] = await requireProjects(ctx, [id]);
  const where = { projectId: projectId! };
  const rows = await ctx.db.prisma.projectMember.findMany({ where, orderBy: { memberId: "asc" } });
  return { memberIds: rows.map(({ memberId }) => memberId) };
}

async function putProjectMembers(
  ctx: Ctx,
  { id: projectId, memberIds: given }: Input<Contract["put"]>,
): Promise<{ memberIds: string[] }> {
  await requireProjects(ctx, [projectId]);
  const { orgId } = ctx.caller;
  const memberIds = [...new Set(given)].sort();
  await withTransaction(ctx.db, async (tx) => {
    await holdMembers(tx, orgId);
    const found = await tx.member.findMany({ where: { orgId, id: { in: memberIds } }, select: { id: true } });
    const known = new Set(found.map(({ id }) => id));
    const unknown = memberIds.find((id) => !known.has(id));
    if (unknown !== undefined) throwNotFound(`member ${unknown}`);
    await holdProject(tx, projectId);
    await tx.projectMember.deleteMany({ where: { projectId, memberId: { notIn: memberIds } } });
    const data = memberIds.map((memberId) => ({ projectId, memberId }));
    await tx.projectMember.createMany({ data, skipDuplicates: true });
    await endUnseenLinks(tx, orgId);
  });
  return { memberIds };
}

/** A call that creates a view link of the project at this moment has either committed it already, or sees the change. */
async function holdProject(tx: Transaction, id: string): Promise<void> {
  await tx.$queryRaw`SELECT id FROM "Project" WHERE id = ${id} FOR NO KEY UPDATE`;
}
