import type { SiteType } from "@downlink/protocol";
import type { Ctx } from "../context/context.ts";
import { invalid, notFound } from "../core/errors.ts";
import type { SiteModel } from "../db/generated/models.ts";
import { onForeignKeyViolation } from "../db/sql-state.ts";

/** The sites that serve the caller: those of its organization that are for all projects, or for one that it sees. */
export function visibleSites({ caller: { orgId, projectIds } }: Pick<Ctx, "caller">) {
  const serving = [{ projectIds: { isEmpty: true } }, { projectIds: { hasSome: [...projectIds] } }];
  return { orgId, ...(projectIds.length > 0 && { OR: serving }) };
}

export async function findSite(ctx: Ctx, id: string): Promise<SiteModel> {
  const row = await ctx.db.prisma.site.findFirst({ where: { AND: [{ id }, visibleSites(ctx)] } });
  return row ?? notFound(`site ${id}`);
}

/** The site that a query selects; undefined where it selects none; 404 where it does not exist. */
export async function selectSite(ctx: Ctx, id: string | undefined): Promise<SiteModel | undefined> {
  return id ? findSite(ctx, id) : undefined;
}

/** The site that a body names; 400 where it is of none of the types. */
export async function findSiteOfType(ctx: Ctx, id: string, types: readonly SiteType[]): Promise<SiteModel> {
  const site = await findSite(ctx, id);
  if (types.some((type) => type === site.type)) return site;
  return invalid("siteId", `must be of a site that is ${types.join(" or ")}; ${id} is ${site.type}`);
}

/** Goes into a `catch` where something is added to a site that may be deleted at that moment. */
export function siteGone(id: string) {
  return onForeignKeyViolation(() => notFound(`site ${id}`));
}
