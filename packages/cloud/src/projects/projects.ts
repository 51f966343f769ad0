import type { api, Input, Project } from "@downlink/protocol";
import type { Ctx } from "../context/context.ts";
import type { Complete } from "../core/complete.ts";
import { notFound, refuse } from "../core/errors.ts";
import { newId } from "../db/ids.ts";
import { onUniqueViolation } from "../db/sql-state.ts";
import type { Handlers } from "../http/handlers.ts";
import { visibleProjects } from "./find-project.ts";

type Contract = typeof api.projects;

export const projects: Handlers<Contract> = { list: listProjects, create: createProject, update: updateProject };

async function listProjects(ctx: Ctx): Promise<Complete<Project>[]> {
  const rows = await ctx.db.prisma.project.findMany({
    where: visibleProjects(ctx),
    orderBy: [{ name: "asc" }, { id: "asc" }],
  });
  return rows.map(toProject);
}

async function createProject(ctx: Ctx, { name }: Input<Contract["create"]>): Promise<Complete<Project>> {
  const row = await ctx.db.prisma.project
    .create({ data: { id: newId("prj"), orgId: ctx.caller.orgId, name, createdAtNs: ctx.clock.nowNs() } })
    .catch(nameTaken(name));
  return toProject(row);
}

async function updateProject(ctx: Ctx, { id, name }: Input<Contract["update"]>): Promise<Complete<Project>> {
  const found = await ctx.db.prisma.project.findFirst({ where: { AND: [{ id }, visibleProjects(ctx)] } });
  if (!found) notFound(`project ${id}`);
  return toProject(await ctx.db.prisma.project.update({ where: { id }, data: { name } }).catch(nameTaken(name)));
}

function toProject(row: { id: string; name: string; lastSeenAtNs: bigint | null }): Complete<Project> {
  return {
    id: row.id,
    name: row.name,
    orgMemberCount: undefined,
    lastSeenAt: row.lastSeenAtNs ?? undefined,
    isInviteOnly: false,
  };
}

function nameTaken(name: string) {
  return onUniqueViolation(() => refuse("NameTaken", `a project named "${name}" exists already`));
}
