import type { api, Input, Site, SiteType } from "@downlink/protocol";
import type { Ctx } from "../context.ts";
import type { SiteModel } from "../db/generated/models.ts";
import { newId } from "../db/ids.ts";
import { type Transaction, withTransaction } from "../db/transaction.ts";
import { invalid, notFound, refuse } from "../http/errors.ts";
import type { Handlers } from "../http/serve.ts";
import { findSite } from "./find-site.ts";

type Contract = typeof api.sites;

export const sites: Handlers<Contract> = {
  list: listSites,
  create: createSite,
  get: getSite,
  update: updateSite,
  delete: deleteSite,
};

async function listSites(ctx: Ctx, { limit, offset }: Input<Contract["list"]>): Promise<Site[]> {
  const rows = await ctx.db.prisma.site.findMany({
    where: { orgId: ctx.caller.orgId },
    orderBy: [{ name: "asc" }, { id: "asc" }],
    take: limit,
    skip: offset,
  });
  return rows.map(toSite);
}

async function createSite(ctx: Ctx, body: Input<Contract["create"]>): Promise<Site> {
  const row = await ctx.db.prisma.site.create({
    data: { id: newId("site"), orgId: ctx.caller.orgId, createdAtNs: ctx.clock.nowNs(), ...body },
  });
  return toSite(row);
}

async function getSite(ctx: Ctx, { id }: Input<Contract["get"]>): Promise<Site> {
  return toSite(await findSite(ctx, id));
}

async function updateSite(ctx: Ctx, { id, ...changes }: Input<Contract["update"]>): Promise<Site> {
  const site = await findSite(ctx, id);
  if (changes.retainRecordingsSeconds !== undefined && site.type !== "edge")
    invalid("retainRecordingsSeconds", `for edge sites only; this one is ${site.type}`);
  if (changes.url !== undefined && site.type !== "self-hosted")
    invalid("url", `for self-hosted sites only; this one is ${site.type}`);
  const [row] = await ctx.db.prisma.site.updateManyAndReturn({ where: { id }, data: changes });
  return toSite(row ?? notFound(`site ${id}`));
}

/** Its tokens go with it, and recordings at an edge site cannot be imported any more. spec: Sites/Delete */
async function deleteSite(ctx: Ctx, { id }: Input<Contract["delete"]>): Promise<{ id: string }> {
  const site = await findSite(ctx, id);
  await withTransaction(ctx.db, async (tx) => {
    await tx.$queryRaw`SELECT "id" FROM "Site" WHERE "id" = ${id} FOR UPDATE`; // nothing is added to it meanwhile
    if (site.type === "service-hosted") await requireDispensable(tx, site);
    await tx.edgeFile.deleteMany({ where: { recording: { edgeSiteId: id } } }); // out of reach from now on
    await tx.site.deleteMany({ where: { id } });
  });
  return { id };
}

/** What we host holds the organization's data, and its uploads have nowhere else to go. */
async function requireDispensable(tx: Transaction, { id, orgId, name }: SiteModel): Promise<void> {
  const recordings = await tx.recording.count({ where: { siteId: id } });
  const imports = await tx.importRequest.count({ where: { siteId: id } });
  if (recordings + imports > 0)
    refuse("Conflict", `site "${name}" still holds ${recordings} recordings and ${imports} imports`);
  const others = await tx.site.count({ where: { orgId, type: "service-hosted", id: { not: id } } });
  if (others === 0) refuse("Conflict", `site "${name}" is the only one that takes the organization's uploads`);
}

function toSite(row: SiteModel): Site {
  return {
    id: row.id,
    name: row.name,
    type: row.type as SiteType,
    url: row.url ?? undefined,
    retainRecordingsSeconds: row.retainRecordingsSeconds ?? undefined,
  };
}
