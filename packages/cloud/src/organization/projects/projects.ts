import { type api, type Input, Project } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import type { Shown } from "../../calls/serve/again.ts";
import type { Handlers } from "../../calls/serve/handlers.ts";
import type { Complete } from "../../core/complete.ts";
import { refuse, throwNotFound } from "../../core/errors.ts";
import type { ProjectModel } from "../../db/generated/models.ts";
import { newId } from "../../db/ids.ts";
import { onUniqueViolation } from "../../db/sql-state.ts";
import { endUnseenLinks } from "./end-unseen-links.ts";
import { visibleProjects } from "./find-project.ts";
import { findSite } from "./find-site.ts";
import { forgetThumbnails } from "./forget-thumbnails.ts";
import { requireTaking } from "./primary-site.ts";

type Contract = typeof api.projects;

export const projects: Handlers<Contract> = { list: listProjects, create: createProject, update: updateProject };

export const shownProject: Shown = {
  schema: Project,
  read: async (ctx, input) => {
    const row = await findProject(ctx, input);
    return toProject(row, await countMembers(ctx, [row.id]));
  },
};

async function findProject(ctx: Ctx, { id }: { readonly id: string }): Promise<ProjectModel> {
  const found = await ctx.db.prisma.project.findFirst({ where: { AND: [{ id }, visibleProjects(ctx)] } });
  return found ?? throwNotFound(`project ${id}`);
}

async function listProjects(ctx: Ctx): Promise<Complete<Project>[]> {
  const rows = await ctx.db.prisma.project.findMany({
    where: visibleProjects(ctx),
    orderBy: [{ name: "asc" }, { id: "asc" }],
  });
  const ids = rows.map(({ id }) => id);
  const counts = await countMembers(ctx, ids);
  return rows.map((row) => toProject(row, counts));
}

async function createProject(ctx: Ctx, { name, isInviteOnly }: Input<Contract["create"]>): Promise<Complete<Project>> {
  const row = await ctx.db.prisma.project
    .create({ data: { id: newId("prj"), orgId: ctx.caller.orgId, name, isInviteOnly, createdAtNs: ctx.clock.nowNs() } })
    .catch(nameTaken(name));
  return toProject(row, await countMembers(ctx, [row.id]));
}

async function updateProject(
  ctx: Ctx,
  { id, name, primarySiteId, isInviteOnly, thumbnails }: Input<Contract["update"]>,
): Promise<Complete<Project>> {
  const found = await findProject(ctx, { id });
  if (typeof primarySiteId === "string") requireTaking(await findSite(ctx, primarySiteId), id, "primarySiteId");
  const update = ctx.db.prisma.project.update({
    where: { id },
    data: { name, primarySiteId, isInviteOnly, thumbnails },
  });
  const row = await update.catch(nameTaken(name ?? found.name));
  if (row.thumbnails !== "all" && row.thumbnails !== found.thumbnails) await forgetThumbnails(ctx, id, row.thumbnails);
  if (isInviteOnly) await endUnseenLinks(ctx.db.prisma, ctx.caller.orgId);
  return toProject(row, await countMembers(ctx, [row.id]));
}

function toProject(row: ProjectModel, counts: MemberCounts): Complete<Project> {
  return {
    id: row.id,
    name: row.name,
    orgMemberCount: counts.get(row.id) ?? 0,
    lastSeenAt: row.lastSeenAtNs ?? undefined,
    isInviteOnly: row.isInviteOnly,
    thumbnails: row.thumbnails,
    primarySiteId: row.primarySiteId ?? undefined,
  };
}

function nameTaken(name: string) {
  return onUniqueViolation(() => refuse("NameTaken", `a project named "${name}" exists already`));
}

/** How many members see each project, by its id. */
type MemberCounts = ReadonlyMap<string, number>;

/**
 * Counts who sees each of these projects: the admins, and of the others all or, where it is invite-only, those that it names. The members of
 * the organization are counted once, however many projects there are.
 */
async function countMembers({ caller, db }: Pick<Ctx, "caller" | "db">, ids: readonly string[]): Promise<MemberCounts> {
  if (ids.length === 0) return new Map();
  const rows = await db.prisma.$queryRaw<{ id: string; count: number }[]>`
    WITH everybody AS (
      SELECT count(*)::int AS all_of_them, count(*) FILTER (WHERE role = 'admin')::int AS admins FROM "Member" WHERE "orgId" = ${caller.orgId}
    )
    SELECT p.id, CASE WHEN p."isInviteOnly" THEN e.admins + (
      SELECT count(*)::int FROM "ProjectMember" pm JOIN "Member" m ON m.id = pm."memberId" WHERE pm."projectId" = p.id AND m.role <> 'admin'
    ) ELSE e.all_of_them END AS count
    FROM "Project" p, everybody e WHERE p."orgId" = ${caller.orgId} AND p.id = ANY(${[...ids]})`;
  return new Map(rows.map(({ id, count }) => [id, count]));
}
