import type { api, Input, PendingImport, PendingImportStatus } from "@downlink/protocol";
import type { Ctx } from "../context.ts";
import type { Prisma } from "../db/generated/client.ts";
import { selectDevice } from "../devices/find-device.ts";
import type { Handlers } from "../http/serve.ts";
import { terminalStates, workingStates } from "../ingest/import-request-state.ts";
import { visibleIn } from "../projects/find-project.ts";

type Contract = typeof api.pendingImports;
type ListQuery = Input<Contract["list"]>;

export const pendingImports: Handlers<Contract> = { list: listPendingImports };

async function listPendingImports(ctx: Ctx, query: ListQuery): Promise<PendingImport[]> {
  const rows = await ctx.db.prisma.importRequest.findMany({
    where: await wherePending(ctx, query),
    include: { device: { select: { name: true } } },
    orderBy: [orderOf(query), { id: query.sortOrder }],
    take: query.limit,
    skip: query.offset,
  });
  return rows.map(toPendingImport);
}

/** What still waits for its bytes is no pending import yet; what ended well or is quarantined comes when it is asked for. */
async function wherePending(ctx: Ctx, query: ListQuery): Promise<Prisma.ImportRequestWhereInput> {
  const device = await selectDevice(ctx, query);
  const { requestId, key, error, filename, siteId, updatedSince, showCompleted, showQuarantined } = query;
  const states = [...workingStates, "error", ...(showCompleted ? ["complete"] : [])];
  return {
    AND: [
      await visibleIn(ctx, query.projectId),
      { state: { in: states } },
      showQuarantined ? {} : { quarantinedAtNs: null },
      {
        ...(requestId !== undefined && { id: requestId }),
        ...(key !== undefined && { key }),
        ...(device && { deviceId: device.id }),
      },
      { ...(error !== undefined && { errorText: error }), ...(filename !== undefined && { filename }) },
      {
        ...(siteId !== undefined && { siteId }),
        ...(updatedSince !== undefined && { updatedAtNs: { gte: updatedSince } }),
      },
    ],
  };
}

function orderOf({ sortBy, sortOrder }: ListQuery): Prisma.ImportRequestOrderByWithRelationInput {
  switch (sortBy) {
    case "deviceId":
    case "device.id":
      return { deviceId: sortOrder };
    case "deviceName":
    case "device.name":
      return { device: { name: sortOrder } };
    case "error":
      return { errorText: sortOrder };
    case "importId":
      return { importId: sortOrder };
    case "requestId":
      return { id: sortOrder };
    case "updatedAt":
      return { updatedAtNs: sortOrder };
    default:
      return { createdAtNs: sortOrder };
  }
}

type Row = Prisma.ImportRequestGetPayload<{ include: { device: { select: { name: true } } } }>;

function toPendingImport(row: Row): PendingImport {
  return {
    requestId: row.id,
    orgId: row.orgId,
    projectId: row.projectId ?? undefined,
    siteId: row.siteId,
    deviceId: row.deviceId ?? undefined,
    deviceName: row.device?.name ?? row.deviceName ?? undefined,
    filename: row.filename,
    status: row.state as PendingImportStatus,
    pipelineStage: row.pipelineStage,
    error: row.state === "error" ? (row.errorText ?? undefined) : undefined,
    importId: row.importId ?? undefined,
    createdAt: row.createdAtNs,
    updatedAt: row.updatedAtNs,
    quarantinedAt: row.quarantinedAtNs ?? undefined,
    terminal: terminalStates.some((state) => state === row.state),
    attempts: row.attempts,
    nextAttemptAt: row.nextAttemptAtNs ?? undefined,
  };
}
