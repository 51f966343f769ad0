import { notFound } from "../core/errors.ts";
import type { SiteModel } from "../db/generated/models.ts";
import type { Transaction } from "../db/transaction.ts";

/** The primary site is where an organization's imports are stored and served. */
export async function primarySiteOf(tx: Transaction, orgId: string): Promise<SiteModel> {
  const site = await tx.site.findFirst({ where: { orgId, type: "service-hosted" }, orderBy: { createdAtNs: "asc" } });
  return site ?? notFound("a primary site of the organization");
}
