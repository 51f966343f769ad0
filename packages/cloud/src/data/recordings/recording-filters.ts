import type { api, Input } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import { hasPart } from "../../calls/search/has-part.ts";
import { metadataRecordsWhere, type Narrowing } from "../../calls/search/jsonb-where.ts";
import { parseQuery } from "../../calls/search/terms.ts";
import { Prisma } from "../../db/generated/client.ts";
import { selectSession } from "../../fleet/sessions/find-session.ts";
import { visibleIn } from "../../organization/projects/find-project.ts";
import { selectSite } from "../../organization/projects/find-site.ts";
import { scopeWhere } from "../../organization/projects/scope-sql.ts";

export type ListQuery = Input<(typeof api.recordings)["list"]>;

/** A condition on the recordings `r`. */
export interface RecordingFilter {
  readonly where: Prisma.Sql;
  /** The same condition, for an index that finds matching rows. */
  readonly narrowed?: Prisma.Sql;
  /** The orders in which an index has the recordings that fulfil it. */
  readonly orderedBy?: readonly ("createdAt" | "start")[];
  /** How many rows are read for each recording that fulfils it; absent: only its own. */
  readonly readsPerMatch?: number;
}

/** Returns all filters of a list but the organization and the time. Empty texts select everything. */
export async function recordingFilters(
  ctx: Ctx,
  query: ListQuery,
  device: { readonly id: string } | undefined,
): Promise<RecordingFilter[]> {
  const { path, pathMatches, topic } = query;
  return [
    ...filterByDevice(query, device),
    ...filterByDevices(query),
    ...(await filterBySession(ctx, query)),
    ...filterByStatus(query),
    ...(await filterBySites(ctx, query)),
    ...(path ? [{ where: Prisma.sql`r.path = ${path} AND left(r.path, 200) COLLATE "C" = left(${path}, 200)` }] : []),
    ...(pathMatches ? [{ where: hasPart(Prisma.sql`r.path`, pathMatches).where }] : []),
    ...(topic ? [withTopic(topic)] : []),
    ...filterByMetadata(query),
    ...filterByCut(query),
    ...(await filterByProjects(ctx, query)),
  ];
}

async function filterByProjects(ctx: Ctx, { projectId }: ListQuery): Promise<RecordingFilter[]> {
  const [, ...projects] = scopeWhere("r", await visibleIn(ctx, projectId));
  return projects.map((where) => ({ where, orderedBy: projectId === undefined ? [] : ["createdAt"] }));
}

/** "deviceId (empty string selects recordings with no device)". spec: Recordings/List */
function filterByDevice({ deviceId }: ListQuery, device: { readonly id: string } | undefined): RecordingFilter[] {
  if (device) return [{ where: Prisma.sql`r."deviceId" = ${device.id}`, orderedBy: ["createdAt", "start"] }];
  return deviceId === "" ? [{ where: Prisma.sql`r."deviceId" IS NULL`, orderedBy: ["createdAt"] }] : [];
}

function filterByDevices({ deviceIds }: ListQuery): RecordingFilter[] {
  return deviceIds === undefined ? [] : [{ where: Prisma.sql`r."deviceId" = ANY(${[...deviceIds]})` }];
}

/** "sessionId (empty string selects recordings with no session)". spec: Recordings/List */
async function filterBySession(ctx: Ctx, query: ListQuery): Promise<RecordingFilter[]> {
  if (query.sessionId === "") return [{ where: Prisma.sql`r."sessionId" IS NULL` }];
  const session = await selectSession(ctx, query);
  return session ? [{ where: Prisma.sql`r."sessionId" = ${session.id}` }] : [];
}

function filterByStatus({ importStatus }: ListQuery): RecordingFilter[] {
  if (importStatus === undefined) return [];
  const [first, ...others] = new Set(importStatus);
  if (others.length === 0) return [{ where: Prisma.sql`r."importStatus" = ${first}`, orderedBy: ["createdAt"] }];
  return [{ where: Prisma.sql`r."importStatus" = ANY(${importStatus})` }];
}

function filterByCut({ isCut }: ListQuery): RecordingFilter[] {
  if (isCut === undefined) return [];
  return [{ where: Prisma.sql`r."isCut" = ${isCut}` }];
}

async function filterBySites(ctx: Ctx, query: ListQuery): Promise<RecordingFilter[]> {
  const site = await selectSite(ctx, query.siteId);
  const edgeSite = await selectSite(ctx, query.edgeSiteId);
  return [
    ...(site ? [{ where: Prisma.sql`r."siteId" = ${site.id}`, orderedBy: ["createdAt"] as const }] : []),
    ...(edgeSite ? [{ where: Prisma.sql`r."edgeSiteId" = ${edgeSite.id}`, orderedBy: ["createdAt"] as const }] : []),
  ];
}

/** Recordings that have a topic are found by looking up first its rows and then, one by one, their recordings. */
function withTopic(topic: string): RecordingFilter {
  const where = Prisma.sql`EXISTS (SELECT FROM "RecordingTopic" t WHERE t."recordingId" = r.id AND t.topic = ${topic})`;
  return { where, readsPerMatch: 3 };
}

/** "A recording matches when any one of its metadata records does, term by term." spec: wire contract §3 */
function filterByMetadata({ metadataQuery = "" }: ListQuery): RecordingFilter[] {
  const terms = parseQuery(metadataQuery, { parameter: "metadataQuery" });
  const searchMetadata = (narrowing: Narrowing) => metadataRecordsWhere(Prisma.sql`r.metadata`, terms, narrowing);
  return terms.length === 0 ? [] : [{ where: searchMetadata("trigrams"), narrowed: searchMetadata("pairs") }];
}
