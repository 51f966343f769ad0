import type { Ctx } from "../context.ts";
import { ApiError, notFound } from "../http/errors.ts";

/** The rows of a project-bound table that the caller may see: its organization's, and its projects' where it is limited to some. */
export function visibleTo({ caller }: Pick<Ctx, "caller">) {
  return { orgId: caller.orgId, ...(caller.projectIds.length > 0 && { projectId: { in: [...caller.projectIds] } }) };
}

/** Whether {@link visibleTo} holds rows of this project of the caller's organization. */
export function seesProject({ caller }: Pick<Ctx, "caller">, projectId: string): boolean {
  return caller.projectIds.length === 0 || caller.projectIds.includes(projectId);
}

/** As {@link visibleTo}, within one project where it is named; 404 where that is not visible. */
export async function visibleIn(ctx: Ctx, projectId: string | undefined) {
  if (projectId === undefined) return visibleTo(ctx);
  await requireVisible(ctx, projectId);
  return { orgId: ctx.caller.orgId, projectId };
}

/** The ids of the projects that {@link visibleIn} means, for lists whose indexes begin with the project. */
export async function visibleProjectIds(ctx: Ctx, projectId: string | undefined): Promise<string[]> {
  if (projectId !== undefined) return [await requireVisible(ctx, projectId)];
  const projects = await ctx.db.prisma.project.findMany({ where: visibleProjects(ctx), select: { id: true } });
  return projects.map(({ id }) => id);
}

/** The project to create something in: the named one, else the only one; 400 where there are several. */
export async function resolveProject(ctx: Ctx, projectId: string | undefined): Promise<string> {
  if (projectId !== undefined) return requireVisible(ctx, projectId);
  const projects = await ctx.db.prisma.project.findMany({ where: visibleProjects(ctx), select: { id: true }, take: 2 });
  const [only, another] = projects;
  if (!only) notFound("a project");
  if (another) throw new ApiError("ProjectRequired", "projectId is required: there are several projects");
  return only.id;
}

export function visibleProjects({ caller }: Pick<Ctx, "caller">) {
  return { orgId: caller.orgId, ...(caller.projectIds.length > 0 && { id: { in: [...caller.projectIds] } }) };
}

async function requireVisible(ctx: Ctx, projectId: string): Promise<string> {
  const found = await ctx.db.prisma.project.findFirst({
    where: { AND: [{ id: projectId }, visibleProjects(ctx)] },
    select: { id: true },
  });
  return found?.id ?? notFound(`project ${projectId}`);
}
