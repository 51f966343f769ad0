import type { AgentPoint, api, EdgeAgent, Input, Site } from "@downlink/protocol";
import { forgetBucket } from "../../buckets/bucket-objects/forget-bucket.ts";
import type { Ctx } from "../../calls/context/context.ts";
import type { Handlers } from "../../calls/serve/handlers.ts";
import type { Complete } from "../../core/complete.ts";
import { invalid, refuse, throwNotFound } from "../../core/errors.ts";
import type { AgentModel, SiteBucketModel, SiteModel, SiteProcessModel } from "../../db/generated/models.ts";
import { newId } from "../../db/ids.ts";
import { type Transaction, withTransaction } from "../../db/transaction.ts";
import { requireProjects, seesProject } from "../../organization/projects/find-project.ts";
import { findSite, visibleSites } from "../../organization/projects/find-site.ts";
import { noLongerCloned, toEdgeAgent } from "../agents/agent-rows.ts";
import { findAgentPoints } from "../agents/find-agent-points.ts";
import { removeFiles } from "../agents/remove-files.ts";
import { loseSiteData } from "./lose-site-data.ts";

type Contract = typeof api.sites;

export const sites: Handlers<Contract> = {
  list: listSites,
  create: createSite,
  get: getSite,
  update: updateSite,
  delete: deleteSite,
  releaseAgent,
  revokeKeys,
  listAgentHistory,
};

async function listSites(ctx: Ctx, { limit, offset }: Input<Contract["list"]>): Promise<Complete<Site>[]> {
  const rows = await ctx.db.prisma.site.findMany({
    where: visibleSites(ctx),
    orderBy: [{ name: "asc" }, { id: "asc" }],
    take: limit,
    skip: offset,
    include: { agent: true, process: true, bucket: true },
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
  const where = { siteId: id };
  const { prisma } = ctx.db;
  const [agent, process, bucket] = await Promise.all([
    prisma.agent.findUnique({ where }),
    prisma.siteProcess.findUnique({ where }),
    prisma.siteBucket.findUnique({ where }),
  ]);
  return toSite(ctx, { ...site, agent, process, bucket });
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

/** The site learns of it with its call for work, and gets a new key. Until it has kept that one, nothing can be linked there. */
async function revokeKeys(ctx: Ctx, { id }: Input<Contract["revokeKeys"]>): Promise<Complete<Site>> {
  const { type } = await findSite(ctx, id);
  if (type !== "self-hosted") invalid("id", `must be of a self-hosted site; ${id} is ${type}`);
  await ctx.db.prisma.siteKey.deleteMany({ where: { siteId: id } });
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
    if (count === 0) throwNotFound(`site ${id}`);
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

/** A report in progress has read the site as it was; once this transaction has the agent's row, all later ones read it as it will be. */
async function outwaitReport(tx: Transaction, siteId: string): Promise<void> {
  await tx.$queryRaw`SELECT "id" FROM "Agent" WHERE "siteId" = ${siteId} FOR NO KEY UPDATE`;
}

/** A site may hold any number of recordings, which all become unavailable at the same moment. */
const MOST_DELETING_MS = 600_000;

/** Its tokens are removed with it, and recordings at an edge site cannot be imported any more. spec: Sites/Delete */
async function deleteSite(ctx: Ctx, { id }: Input<Contract["delete"]>): Promise<{ id: string }> {
  const site = await findSite(ctx, id);
  const deleteIt = async (tx: Transaction) => {
    const locked = await tx.$queryRaw<unknown[]>`SELECT id FROM "Site" WHERE id = ${id} FOR UPDATE`; // nothing is added to it meanwhile
    if (locked.length === 0) throwNotFound(`site ${id}`);
    if (site.type === "service-hosted") await requireDispensable(tx, site);
    await failRequests(ctx, tx, id);
    if (site.type === "self-hosted") await loseSiteData({ tx, nowNs: ctx.clock.nowNs() }, id);
    if (site.type === "byob") await forgetBucket({ tx, nowNs: ctx.clock.nowNs() }, id);
    await tx.edgeFile.deleteMany({ where: { recording: { edgeSiteId: id } } }); // these files are out of reach from now on
    await tx.site.deleteMany({ where: { id } });
  };
  await withTransaction(ctx.db, deleteIt, { timeoutMs: MOST_DELETING_MS });
  return { id };
}

/** Requests that an edge site has not delivered will never be delivered. */
async function failRequests({ clock }: Ctx, tx: Transaction, siteId: string): Promise<void> {
  const agent = await tx.agent.findUnique({ where: { siteId } });
  if (!agent) return;
  const files = await tx.edgeFile.findMany({
    where: { agentId: agent.id, recording: { importStatus: "pending" } },
    select: { id: true, versionId: true, recordingId: true },
  });
  await removeFiles({ tx, nowNs: clock.nowNs() }, { agent, files });
}

/** The site that we host holds the organization's data, and there is no other place for its uploads. */
async function requireDispensable(tx: Transaction, { id, orgId, name }: SiteModel): Promise<void> {
  const recordings = await tx.recording.count({ where: { siteId: id } });
  const imports = await tx.importRequest.count({ where: { siteId: id } });
  if (recordings + imports > 0)
    refuse("Conflict", `site "${name}" still holds ${recordings} recordings and ${imports} imports`);
  const others = await tx.site.count({ where: { orgId, type: "service-hosted", id: { not: id } } });
  if (others === 0) refuse("Conflict", `site "${name}" is the only one that takes the organization's uploads`);
}

type SiteRow = SiteModel & {
  readonly agent?: AgentModel | null;
  readonly process?: SiteProcessModel | null;
  readonly bucket?: SiteBucketModel | null;
};

function toSite(ctx: Ctx, row: SiteRow): Complete<Site> {
  return {
    id: row.id,
    name: row.name,
    type: row.type,
    url: row.url ?? row.process?.url ?? undefined,
    retainRecordingsSeconds: row.retainRecordingsSeconds ?? undefined,
    projectIds: row.projectIds.filter((id) => seesProject(ctx, id)),
    agent: row.agent ? toSiteAgent(ctx, row.agent) : undefined,
    process: row.process ? toProcess(ctx, row.process) : undefined,
    health: row.bucket ? toHealth(row.bucket) : undefined,
  };
}

function toHealth({ problem, problemSinceNs, listedAtNs }: SiteBucketModel): Complete<NonNullable<Site["health"]>> {
  const known = listedAtNs === null ? "unknown" : "readable";
  return {
    state: problem === null ? known : "unreadable",
    problem: problem ?? undefined,
    problemSince: problemSinceNs ?? undefined,
    lastListedAt: listedAtNs ?? undefined,
  };
}

function toProcess({ clock }: Ctx, row: SiteProcessModel): Complete<NonNullable<Site["process"]>> {
  const { programVersion, storeKind, lastSeenAtNs: lastSeenAt, leaseExpiresAtNs } = row;
  return { programVersion, storeKind, lastSeenAt, isOnline: leaseExpiresAtNs > clock.nowNs() };
}

/** The agent's report counts the files of all projects and names their paths, so only callers who see all projects get it. */
function toSiteAgent({ caller, clock }: Ctx, row: AgentModel): Complete<EdgeAgent> {
  const agent = toEdgeAgent(row, clock.nowNs());
  return caller.projectIds.length === 0 ? agent : { ...agent, status: undefined };
}
