import type { SiteType } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import { invalid, throwNotFound } from "../../core/errors.ts";
import type { SiteModel } from "../../db/generated/models.ts";
import { onForeignKeyViolation } from "../../db/sql-state.ts";
import type { Transaction } from "../../db/transaction.ts";

/** Selects the sites that serve the caller: those of its organization that are for all projects, or for one that it sees. */
export function visibleSites({ caller: { orgId, projectIds } }: Pick<Ctx, "caller">) {
  const serving = [{ projectIds: { isEmpty: true } }, { projectIds: { hasSome: [...projectIds] } }];
  return { orgId, ...(projectIds.length > 0 && { OR: serving }) };
}

export async function findSite(ctx: Ctx, id: string): Promise<SiteModel> {
  const row = await ctx.db.prisma.site.findFirst({ where: { AND: [{ id }, visibleSites(ctx)] } });
  return row ?? throwNotFound(`site ${id}`);
}

/** Finds the site that a query selects; undefined if it selects none; 404 if it does not exist. */
export async function selectSite(ctx: Ctx, id: string | undefined): Promise<SiteModel | undefined> {
  return id ? findSite(ctx, id) : undefined;
}

/** Finds the site that a body names; 400 if it is of none of the types. */
export async function findSiteOfType(ctx: Ctx, id: string, types: readonly SiteType[]): Promise<SiteModel> {
  const site = await findSite(ctx, id);
  if (types.some((type) => type === site.type)) return site;
  return invalid("siteId", `must be of a site that is ${types.join(" or ")}; ${id} is ${site.type}`);
}

/**
 * Says whether a site is there, and keeps it until the transaction ends. Import requests name their site without a foreign key, and one that
 * is made while its site is deleted would wait for ever.
 */
export async function holdSite(tx: Pick<Transaction, "$queryRaw">, id: string): Promise<boolean> {
  return (await tx.$queryRaw<unknown[]>`SELECT id FROM "Site" WHERE id = ${id} FOR KEY SHARE`).length > 0;
}

/** For a `catch`, when something is added to a site that may be deleted at that moment. */
export function siteGone(id: string) {
  return onForeignKeyViolation(() => throwNotFound(`site ${id}`));
}
