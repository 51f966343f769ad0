import type { SiteType } from "@downlink/protocol";
import type { Ctx } from "../context.ts";
import type { SiteModel } from "../db/generated/models.ts";
import { FOREIGN_KEY_VIOLATION, sqlState } from "../db/sql-state.ts";
import { invalid, notFound } from "../http/errors.ts";

/** Sites belong to the organization, whatever projects a key is limited to. */
export async function findSite(ctx: Ctx, id: string): Promise<SiteModel> {
  const row = await ctx.db.prisma.site.findFirst({ where: { id, orgId: ctx.caller.orgId } });
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
  return invalid("siteId", `site ${id} is ${site.type}; expected ${types.join(" or ")}`);
}

/** For what is added to a site that may be deleted at that moment. */
export function siteGone(id: string) {
  return (error: unknown): never => {
    if (sqlState(error) !== FOREIGN_KEY_VIOLATION) throw error;
    return notFound(`site ${id}`);
  };
}
