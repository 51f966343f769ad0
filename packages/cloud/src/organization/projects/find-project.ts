import { type Kysely, sql } from "kysely";
import type { Ctx } from "../../calls/context/context.ts";
import { ApiError, throwNotFound } from "../../core/errors.ts";
import type { DB } from "../../db/generated/tables.ts";
import { type Parameters, prepare } from "../../db/prepared.ts";
import { isAmong, type Tenancy } from "./scope-sql.ts";

/**
 * Selects the rows of a project-bound table that the caller may see: those of its organization, and of its projects if it is limited to
 * some.
 */
export function visibleTo({ caller }: Pick<Ctx, "caller">) {
  return { orgId: caller.orgId, ...(caller.projectIds.length > 0 && { projectId: { in: [...caller.projectIds] } }) };
}

/** Says whether {@link visibleTo} selects rows of this project of the caller's organization. */
export function seesProject({ caller }: Pick<Ctx, "caller">, projectId: string): boolean {
  return caller.projectIds.length === 0 || caller.projectIds.includes(projectId);
}

/** Does what {@link visibleTo} does for a prepared statement, within one project if it is named; one that is not visible is 404. */
export function tenancyOf({ caller }: Pick<Ctx, "caller">, projectId?: string): Tenancy {
  const { orgId, projectIds } = caller;
  if (projectId === undefined) return { orgId, projectIds };
  return seesProject({ caller }, projectId)
    ? { orgId, projectIds: [projectId] }
    : throwNotFound(`project ${projectId}`);
}

/** Does what {@link visibleTo} does, within one project if it is named; one that is not visible is 404. */
export async function visibleIn(ctx: Ctx, projectId: string | undefined) {
  if (projectId === undefined) return visibleTo(ctx);
  await requireVisible(ctx, projectId);
  return { orgId: ctx.caller.orgId, projectId };
}

/** Returns the ids of the projects that {@link visibleIn} selects, for lists whose indexes begin with the project. */
export async function visibleProjectIds(ctx: Ctx, projectId: string | undefined): Promise<string[]> {
  if (projectId !== undefined) return [await requireVisible(ctx, projectId)];
  const projects = await selectProjects(ctx.db, tenancyOf(ctx));
  return projects.map(({ id }) => id);
}

/** Returns the project to create something in: the named one, else the only one; 400 if there are several. */
export async function resolveProject(ctx: Ctx, projectId: string | undefined): Promise<string> {
  if (projectId !== undefined) return requireVisible(ctx, projectId);
  const [only, another] = await selectTwoProjects(ctx.db, tenancyOf(ctx));
  if (!only) throwNotFound("a project");
  if (another) throw new ApiError("ProjectRequired", "projectId is required: there are several projects");
  return only.id;
}

/** Returns the projects that a resource is for, each once: each must exist and be visible to the caller. */
export async function requireProjects(ctx: Ctx, given: readonly string[]): Promise<string[]> {
  const projectIds = [...new Set(given)];
  const found = await ctx.db.prisma.project.findMany({
    where: { AND: [{ id: { in: projectIds } }, visibleProjects(ctx)] },
    select: { id: true },
  });
  const known = new Set(found.map(({ id }) => id));
  const unknown = projectIds.find((id) => !known.has(id));
  return unknown === undefined ? projectIds : throwNotFound(`project ${unknown}`);
}

export function visibleProjects({ caller }: Pick<Ctx, "caller">) {
  return { orgId: caller.orgId, ...(caller.projectIds.length > 0 && { id: { in: [...caller.projectIds] } }) };
}

async function requireVisible(ctx: Ctx, projectId: string): Promise<string> {
  const [found] = await selectProjects(ctx.db, tenancyOf(ctx, projectId));
  return found?.id ?? throwNotFound(`project ${projectId}`);
}

const projectsWithin = (db: Kysely<DB>, { orgId, projectIds }: Parameters<Tenancy>) =>
  db
    .selectFrom("Project as p")
    .select("p.id")
    .where("p.orgId", "=", orgId)
    .where(isAmong(sql.ref("p.id"), projectIds));

const selectProjects = prepare(projectsWithin);
const selectTwoProjects = prepare((db, seen: Parameters<Tenancy>) => projectsWithin(db, seen).limit(sql.lit(2)));
