import type { api, Input, Site, SiteType } from "@downlink/protocol";
import type { Ctx } from "../context.ts";
import type { AgentModel, SiteModel } from "../db/generated/models.ts";
import { newId } from "../db/ids.ts";
import { type Transaction, withTransaction } from "../db/transaction.ts";
import { noLongerCloned, toEdgeAgent } from "../edge/agent-rows.ts";
import { removeFiles } from "../edge/remove-files.ts";
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
  releaseAgent,
};

async function listSites(ctx: Ctx, { limit, offset }: Input<Contract["list"]>): Promise<Site[]> {
  const rows = await ctx.db.prisma.site.findMany({
    where: { orgId: ctx.caller.orgId },
    orderBy: [{ name: "asc" }, { id: "asc" }],
    take: limit,
    skip: offset,
    include: { agent: true },
  });
  return rows.map((row) => toSite(ctx, row));
}

async function createSite(ctx: Ctx, body: Input<Contract["create"]>): Promise<Site> {
  const row = await ctx.db.prisma.site.create({
    data: { id: newId("site"), orgId: ctx.caller.orgId, createdAtNs: ctx.clock.nowNs(), ...body },
  });
  return toSite(ctx, row);
}

async function getSite(ctx: Ctx, { id }: Input<Contract["get"]>): Promise<Site> {
  const site = await findSite(ctx, id);
  return toSite(ctx, { ...site, agent: await ctx.db.prisma.agent.findUnique({ where: { siteId: id } }) });
}

async function releaseAgent(ctx: Ctx, { id }: Input<Contract["releaseAgent"]>): Promise<Site> {
  await findSite(ctx, id);
  const where = { siteId: id, clonedAtNs: { not: null } };
  await ctx.db.prisma.agent.updateMany({ where, data: noLongerCloned });
  return getSite(ctx, { id });
}

async function updateSite(ctx: Ctx, { id, ...changes }: Input<Contract["update"]>): Promise<Site> {
  const site = await findSite(ctx, id);
  if (changes.retainRecordingsSeconds !== undefined && site.type !== "edge")
    invalid("retainRecordingsSeconds", `for edge sites only; this one is ${site.type}`);
  if (changes.url !== undefined && site.type !== "self-hosted")
    invalid("url", `for self-hosted sites only; this one is ${site.type}`);
  const { count } = await ctx.db.prisma.site.updateMany({ where: { id }, data: changes });
  if (count === 0) notFound(`site ${id}`);
  await ctx.workSignals.announce(id); // the agent's settings are part of its work
  return getSite(ctx, { id });
}

/** Its tokens go with it, and recordings at an edge site cannot be imported any more. spec: Sites/Delete */
async function deleteSite(ctx: Ctx, { id }: Input<Contract["delete"]>): Promise<{ id: string }> {
  const site = await findSite(ctx, id);
  await withTransaction(ctx.db, async (tx) => {
    await tx.$queryRaw`SELECT "id" FROM "Site" WHERE "id" = ${id} FOR UPDATE`; // nothing is added to it meanwhile
    if (site.type === "service-hosted") await requireDispensable(tx, site);
    await failRequests(ctx, tx, id);
    await tx.edgeFile.deleteMany({ where: { recording: { edgeSiteId: id } } }); // out of reach from now on
    await tx.site.deleteMany({ where: { id } });
  });
  await ctx.workSignals.announce(id); // its agent's token went with it
  return { id };
}

/** What an edge site was asked for and has not delivered, it never will. */
async function failRequests({ clock }: Ctx, tx: Transaction, siteId: string): Promise<void> {
  const agent = await tx.agent.findUnique({ where: { siteId } });
  if (!agent) return;
  const files = await tx.edgeFile.findMany({
    where: { agentId: agent.id, recording: { importStatus: "pending" } },
    select: { id: true, versionId: true, recordingId: true },
  });
  await removeFiles(tx, { agent, files, nowNs: clock.nowNs() });
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

function toSite({ clock }: Ctx, row: SiteModel & { agent?: AgentModel | null }): Site {
  return {
    id: row.id,
    name: row.name,
    type: row.type as SiteType,
    url: row.url ?? undefined,
    retainRecordingsSeconds: row.retainRecordingsSeconds ?? undefined,
    agent: row.agent ? toEdgeAgent(row.agent, clock.nowNs()) : undefined,
  };
}
