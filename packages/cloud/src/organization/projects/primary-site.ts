import { sql } from "kysely";
import type { Ctx } from "../../calls/context/context.ts";
import { invalid, throwNotFound } from "../../core/errors.ts";
import type { SiteModel } from "../../db/generated/models.ts";
import { type Parameters, prepare } from "../../db/prepared.ts";
import type { Transaction } from "../../db/transaction.ts";
import { findSite } from "./find-site.ts";

/**
 * Finds the site of ours where an organization's imports are stored and served. It stays until the transaction ends, because requests name
 * their site without a foreign key: they outlive sites of other types.
 */
export async function primarySiteOf(tx: Transaction, orgId: string): Promise<{ id: string }> {
  const [site] = await tx.$queryRaw<{ id: string }[]>`
    SELECT id FROM "Site" WHERE "orgId" = ${orgId} AND type = 'service-hosted' ORDER BY "createdAtNs" LIMIT 1 FOR KEY SHARE`;
  return site ?? throwNotFound("a primary site of the organization");
}

/**
 * Finds for each of these projects the site that takes its imports from the edge: the project's own, else ours. The sites stay until the
 * transaction ends. A request keeps its site, whatever the project's becomes later.
 */
export async function deliverySitesOf(
  tx: Transaction,
  orgId: string,
  projectIds: readonly string[],
): Promise<(projectId: string) => string> {
  const rows = await tx.$queryRaw<{ projectId: string; siteId: string }[]>`
    SELECT p.id AS "projectId", s.id AS "siteId" FROM "Project" p JOIN "Site" s ON s.id = coalesce(p."primarySiteId", (
      SELECT ours.id FROM "Site" ours WHERE ours."orgId" = ${orgId} AND ours.type = 'service-hosted' ORDER BY ours."createdAtNs" LIMIT 1))
    WHERE p.id = ANY(${[...new Set(projectIds)]}) FOR KEY SHARE OF s`;
  const sites = new Map(rows.map(({ projectId, siteId }) => [projectId, siteId]));
  return (projectId) => sites.get(projectId) ?? throwNotFound("a primary site of the organization");
}

interface For {
  readonly projectId: string;
  /** The site that the caller named. */
  readonly siteId: string | undefined;
}

type Chosen = Pick<SiteModel, "id" | "type">;

/** Chooses the site for an upload: the named one, else the project's, else ours. 400 for a site that takes no uploads. */
export async function chooseSite(ctx: Ctx, { projectId, siteId }: For): Promise<Chosen> {
  if (siteId !== undefined) return requireTaking(await findSite(ctx, siteId), projectId);
  const [site] = await selectPrimary(ctx.db, { orgId: ctx.caller.orgId, projectId });
  return site ?? throwNotFound("a primary site of the organization");
}

/** Checks that a site takes the uploads of a project. 400 where it does not. */
export function requireTaking(site: SiteModel, projectId: string, field = "siteId"): SiteModel {
  const { id, type, projectIds } = site;
  if (type !== "service-hosted" && type !== "self-hosted")
    invalid(field, `must be a site that takes uploads, service-hosted or self-hosted; ${id} is ${type}`);
  if (projectIds.length > 0 && !projectIds.includes(projectId))
    invalid(field, `must be a site for project ${projectId}; ${id} is for others`);
  return site;
}

/** Selects the primary site of an organization's project, else the site of ours. */
const selectPrimary = prepare((db, { orgId, projectId }: Parameters<{ orgId: string; projectId: string }>) =>
  db
    .selectFrom("Site as s")
    .leftJoin("Project as p", (join) => join.onRef("p.primarySiteId", "=", "s.id").on("p.id", "=", projectId))
    .select(["s.id", "s.type"])
    .where("s.orgId", "=", orgId)
    .where((where) => where.or([where("s.type", "=", sql.lit("service-hosted")), where("p.id", "is not", null)]))
    .orderBy(sql`p.id IS NULL`)
    .orderBy("s.createdAtNs")
    .limit(sql.lit(1)),
);
