// The import queue shows one reason why a file waits, the first of a closed list (`imports/import-queue/explain-wait.ts`): what stops everything
// comes before what stops one file. A place in the queue counts only requests that the caller sees. 50 of 100,000 take 30 ms, at place
// 80,000 0.4 s.

import { type api, type EdgeAgent, type Input, type QueuedImport, Requester } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import type { Handlers } from "../../calls/serve/handlers.ts";
import { type Complete, toComplete } from "../../core/complete.ts";
import { Prisma } from "../../db/generated/client.ts";
import { sortByIds } from "../../db/sort-by-ids.ts";
import { toEdgeAgent } from "../../fleet/agents/agent-rows.ts";
import { selectDevice } from "../../fleet/devices/find-device.ts";
import { seesProject, visibleIn } from "../../organization/projects/find-project.ts";
import { selectSite } from "../../organization/projects/find-site.ts";
import { scopeWhere } from "../../organization/projects/scope-sql.ts";
import { UploadClosedError } from "../../store/blobs/blob-errors.ts";
import { explainWait } from "./explain-wait.ts";

type Contract = typeof api.importQueue;
type ListQuery = Input<Contract["list"]>;
type Sql = Prisma.Sql;

export const importQueue: Handlers<Contract> = { list: listQueue };

async function listQueue(ctx: Ctx, query: ListQuery): Promise<Complete<QueuedImport>[]> {
  const waiting = await filterWaiting(ctx, query);
  const requests = await readRequests(ctx, await findQueuedIds(ctx, waiting, query));
  const owners = await readOwners(ctx, requests);
  const positions = await findPositions(ctx, requests);
  const entries: Complete<QueuedImport>[] = [];
  for (const request of requests) // one after another, because an upload's parts are looked up in the store
    entries.push(toEntry(ctx, request, { owners, positions, bytesReceived: await durableBytes(ctx, request) }));
  return entries;
}

/** The condition of the partial indexes. */
const IS_WAITING = Prisma.sql`r.state = 'awaiting' AND r.source = 'edge'`;
/** The order in which agents get requests: the most urgent first. */
const ORDER = Prisma.sql`-r.priority, r."createdAtNs", r.id`;

async function filterWaiting(ctx: Ctx, query: ListQuery): Promise<Sql> {
  const device = await selectDevice(ctx, query);
  const site = await selectSite(ctx, query.edgeSiteId);
  const agent = site && (await ctx.db.prisma.agent.findUnique({ where: { siteId: site.id }, select: { id: true } }));
  const conditions = [
    IS_WAITING,
    ...scopeWhere("r", await visibleIn(ctx, query.projectId)),
    ...(device ? [Prisma.sql`r."deviceId" = ${device.id}`] : []),
    ...(site ? [Prisma.sql`r."agentId" = ${agent?.id ?? ""}`] : []),
  ];
  return Prisma.join(conditions, " AND ");
}

async function findQueuedIds({ db }: Ctx, where: Sql, { limit, offset }: ListQuery): Promise<string[]> {
  const rows = await db.prisma.$queryRaw<{ id: string }[]>`
    SELECT r.id FROM "ImportRequest" r WHERE ${where} ORDER BY ${ORDER} LIMIT ${limit} OFFSET ${offset}`;
  return rows.map(({ id }) => id);
}

const withDetails = {
  recording: { select: { id: true, projectId: true, sizeBytes: true } },
  uploads: { where: { state: "open" }, orderBy: { createdAtNs: "desc" }, take: 1, select: { blobKey: true } },
} as const satisfies Prisma.ImportRequestInclude;
type RequestRow = Prisma.ImportRequestGetPayload<{ include: typeof withDetails }>;

async function readRequests({ db }: Ctx, ids: string[]): Promise<RequestRow[]> {
  return sortByIds(ids, await db.prisma.importRequest.findMany({ where: { id: { in: ids } }, include: withDetails }));
}

interface Owner {
  readonly agent: Complete<EdgeAgent>;
  readonly site: { id: string; name: string } | null;
}

interface Owners {
  readonly agents: ReadonlyMap<string | null, Owner>;
  readonly devices: ReadonlyMap<string | null, { id: string; name: string; enabled: boolean }>;
}

async function readOwners({ db, clock }: Ctx, requests: readonly RequestRow[]): Promise<Owners> {
  const summary = { select: { id: true, name: true } } as const;
  const agents = await db.prisma.agent.findMany({
    where: { id: { in: [...new Set(requests.flatMap(({ agentId }) => agentId ?? []))] } },
    include: { site: summary },
  });
  const devices = await db.prisma.device.findMany({
    where: { id: { in: [...new Set(requests.flatMap(({ deviceId }) => deviceId ?? []))] } },
    select: { id: true, name: true, enabled: true },
  });
  const nowNs = clock.nowNs();
  return {
    agents: new Map(agents.map((row) => [row.id, { agent: toEdgeAgent(row, nowNs), site: row.site }])),
    devices: new Map(devices.map((device) => [device.id, device])),
  };
}

/**
 * Finds the place of each request among those of its agent that the caller sees and that can be worked on. Requests behind the last one of
 * the page need not be read.
 */
async function findPositions(ctx: Ctx, requests: readonly RequestRow[]): Promise<ReadonlyMap<string, number>> {
  const last = requests.at(-1);
  if (!last) return new Map();
  const agentIds = [...new Set(requests.flatMap(({ agentId }) => agentId ?? []))];
  const scope = Prisma.join(scopeWhere("r", await visibleIn(ctx, undefined)), " AND ");
  const rows = await ctx.db.prisma.$queryRaw<{ id: string; position: bigint }[]>`
    SELECT id, position FROM (
      SELECT r.id, row_number() OVER (PARTITION BY r."agentId" ORDER BY ${ORDER}) AS position
      FROM "ImportRequest" r LEFT JOIN "Device" d ON d.id = r."deviceId"
      WHERE r."agentId" = ANY(${agentIds}) AND ${IS_WAITING} AND ${scope} AND d.enabled IS NOT FALSE
        AND (-r.priority, r."createdAtNs", r.id) <= (${-last.priority}::int, ${last.createdAtNs}::bigint, ${last.id}::text)
    ) AS ranked WHERE id = ANY(${requests.map(({ id }) => id)})`;
  return new Map(rows.map(({ id, position }) => [id, Number(position)]));
}

/** Counts the bytes of parts, and of pieces of parts, that a crash would not lose. */
async function durableBytes({ blobs }: Ctx, { uploads: [upload] }: RequestRow): Promise<number> {
  if (!upload) return 0;
  try {
    const stored = [...(await blobs.listParts(upload.blobKey)), ...(await blobs.listPieces(upload.blobKey))];
    return stored.reduce((bytes, { lengthBytes }) => bytes + lengthBytes, 0);
  } catch (error) {
    if (error instanceof UploadClosedError) return 0; // the upload has ended meanwhile, or its first byte has not arrived
    throw error;
  }
}

interface Details {
  readonly owners: Owners;
  readonly positions: ReadonlyMap<string, number>;
  readonly bytesReceived: number;
}

function toEntry(ctx: Ctx, row: RequestRow, { owners, positions, bytesReceived }: Details): Complete<QueuedImport> {
  const { agent, site } = owners.agents.get(row.agentId) ?? {};
  const device = owners.devices.get(row.deviceId);
  const recording = row.recording && seesProject(ctx, row.recording.projectId) ? row.recording : undefined;
  const transfer = agent?.status?.transfers?.find(({ recordingId }) => recordingId === row.recordingId);
  // An agent that does not report its transfers is uploading if it has opened an upload.
  const isUploading = agent?.status?.transfers ? transfer !== undefined : row.uploads.length > 0;
  const position = positions.get(row.id);
  const waitsFor = explainWait({ agent, isDeviceEnabled: device?.enabled !== false, isUploading, position });
  return {
    recordingId: recording?.id,
    requestId: row.id,
    projectId: row.projectId!, // the project of an agent's file is always known
    device: device && { id: device.id, name: device.name },
    edgeSite: site ?? undefined,
    path: row.filename,
    size: recording && Number(recording.sizeBytes),
    priority: row.priority,
    requestedAt: row.createdAtNs,
    requestedBy: toComplete(Requester.safeParse(row.requestedBy).data),
    isRepair: row.isRepair || undefined,
    position,
    state: waitsFor ? "waiting" : "uploading",
    bytesReceived,
    bytesPerSecond: waitsFor ? undefined : transfer?.bytesPerSecond,
    waitsFor: waitsFor && { fix: undefined, until: undefined, ...waitsFor },
  };
}
