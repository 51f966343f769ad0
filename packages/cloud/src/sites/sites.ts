import type { AgentPoint, api, EdgeAgent, Input, Site } from "@downlink/protocol";
import { noLongerCloned, toEdgeAgent } from "../agents/agent-rows.ts";
import { findAgentPoints } from "../agents/find-agent-points.ts";
import { removeFiles } from "../agents/remove-files.ts";
import type { Ctx } from "../context/context.ts";
import type { Complete } from "../core/complete.ts";
import { invalid, notFound, refuse } from "../core/errors.ts";
import type { AgentModel, SiteModel } from "../db/generated/models.ts";
import { newId } from "../db/ids.ts";
import { type Transaction, withTransaction } from "../db/transaction.ts";
import type { Handlers } from "../http/handlers.ts";
import { requireProjects, seesProject } from "../projects/find-project.ts";
import { findSite, visibleSites } from "../projects/find-site.ts";

type Contract = typeof api.sites;

export const sites: Handlers<Contract> = {
  list: listSites,
  create: createSite,
  get: getSite,
  update: updateSite,
  delete: deleteSite,
  releaseAgent,
  listAgentHistory,
};

async function listSites(ctx: Ctx, { limit, offset }: Input<Contract["list"]>): Promise<Complete<Site>[]> {
  const rows = await ctx.db.prisma.site.findMany({
    where: visibleSites(ctx),
    orderBy: [{ name: "asc" }, { id: "asc" }],
    take: limit,
    skip: offset,
    include: { agent: true },
  });
  return rows.map((row) => toSite(ctx, row));
}

async function createSite(ctx: Ctx, body: Input<Contract["create"]>): Promise<Complete<Site>> {
  const projectIds = await requireProjects(ctx, body.projectIds);
  const own = { id: newId("site"), orgId: ctx.caller.orgId, createdAtNs: ctx.clock.nowNs() };
  const row = await ctx.db.prisma.site.create({ data: { ...own, ...body, projectIds } });
  return toSite(ctx, row);
}

async function getSite(ctx: Ctx, { id }: Input<Contract["get"]>): Promise<Complete<Site>> {
  const site = await findSite(ctx, id);
  return toSite(ctx, { ...site, agent: await ctx.db.prisma.agent.findUnique({ where: { siteId: id } }) });
}

async function listAgentHistory(
  ctx: Ctx,
  { id, ...page }: Input<Contract["listAgentHistory"]>,
): Promise<Complete<AgentPoint>[]> {
  const { id: siteId } = await findSite(ctx, id);
  return findAgentPoints(ctx, { siteId }, page);
}

async function releaseAgent(ctx: Ctx, { id }: Input<Contract["releaseAgent"]>): Promise<Complete<Site>> {
  await findSite(ctx, id);
  const where = { siteId: id, clonedAtNs: { not: null } };
  await ctx.db.prisma.agent.updateMany({ where, data: noLongerCloned });
  return getSite(ctx, { id });
}

async function updateSite(ctx: Ctx, { id, ...changes }: Input<Contract["update"]>): Promise<Complete<Site>> {
  const site = await findSite(ctx, id);
  if (changes.retainRecordingsSeconds !== undefined && site.type !== "edge")
    invalid("retainRecordingsSeconds", `is for edge sites only; this one is ${site.type}`);
  if (typeof changes.url === "string" && site.type !== "self-hosted")
    invalid("url", `is for self-hosted sites only; this one is ${site.type}`);
  const projectIds = await readProjects(ctx, site, changes.projectIds);
  await withTransaction(ctx.db, async (tx) => {
    const { count } = await tx.site.updateMany({ where: { id }, data: { ...changes, projectIds } });
    if (count === 0) notFound(`site ${id}`);
    if (projectIds) await outwaitReport(tx, id);
  });
  return getSite(ctx, { id });
}

async function readProjects(ctx: Ctx, { type }: SiteModel, projectIds: readonly string[] | undefined) {
  if (projectIds === undefined) return undefined;
  if (type === "service-hosted" && projectIds.length > 0)
    invalid("projectIds", "must be empty for a service-hosted site, which takes the uploads of every project");
  return requireProjects(ctx, projectIds);
}

/** A report that is being taken read the site as it was; once this has the agent's row, all later ones read it as it will be. */
async function outwaitReport(tx: Transaction, siteId: string): Promise<void> {
  await tx.$queryRaw`SELECT "id" FROM "Agent" WHERE "siteId" = ${siteId} FOR NO KEY UPDATE`;
}

/** Its tokens go with it, and recordings at an edge site cannot be imported any more. spec: Sites/Delete */
async function deleteSite(ctx: Ctx, { id }: Input<Contract["delete"]>): Promise<{ id: string }> {
  const site = await findSite(ctx, id);
  await withTransaction(ctx.db, async (tx) => {
    const locked = await tx.$queryRaw<unknown[]>`SELECT id FROM "Site" WHERE id = ${id} FOR UPDATE`; // nothing is added to it meanwhile
    if (locked.length === 0) notFound(`site ${id}`);
    if (site.type === "service-hosted") await requireDispensable(tx, site);
    await failRequests(ctx, tx, id);
    await tx.edgeFile.deleteMany({ where: { recording: { edgeSiteId: id } } }); // out of reach from now on
    await tx.site.deleteMany({ where: { id } });
  });
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
  await removeFiles({ tx, nowNs: clock.nowNs() }, { agent, files });
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

function toSite(ctx: Ctx, row: SiteModel & { agent?: AgentModel | null }): Complete<Site> {
  return {
    id: row.id,
    name: row.name,
    type: row.type,
    url: row.url ?? undefined,
    retainRecordingsSeconds: row.retainRecordingsSeconds ?? undefined,
    projectIds: row.projectIds.filter((id) => seesProject(ctx, id)),
    agent: row.agent ? toSiteAgent(ctx, row.agent) : undefined,
  };
}

/** What it last said of itself counts the files of all projects and names their paths: only for those who see all. */
function toSiteAgent({ caller, clock }: Ctx, row: AgentModel): Complete<EdgeAgent> {
  const agent = toEdgeAgent(row, clock.nowNs());
  return caller.projectIds.length === 0 ? agent : { ...agent, status: undefined };
}
