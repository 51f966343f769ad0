import type { api, EdgeFile, Input, SalvageRequest } from "@downlink/protocol";
import type { Ctx } from "../calls/context/context.ts";
import type { Handlers } from "../calls/serve/handlers.ts";
import type { Complete } from "../core/complete.ts";
import { throwNotFound } from "../core/errors.ts";
import type { Prisma } from "../db/generated/client.ts";
import type { SalvageRequestModel } from "../db/generated/models.ts";
import { selectDevice } from "../fleet/devices/find-device.ts";
import { visibleIn } from "../organization/projects/find-project.ts";
import { selectSite } from "../organization/projects/find-site.ts";
import { requestSalvage } from "./request-salvage.ts";

type Contract = typeof api.edgeFiles;

export const edgeFiles: Handlers<Contract> = {
  list: listEdgeFiles,
  salvage: (ctx, input) => requestSalvage(ctx, input).then((id) => getEdgeFile(ctx, id)),
};

const summary = { select: { id: true, name: true } } as const;
const columns = { include: { agent: { select: { site: summary } } } } as const;
type Row = Prisma.EdgeFileGetPayload<typeof columns>;

async function listEdgeFiles(ctx: Ctx, query: Input<Contract["list"]>): Promise<Complete<EdgeFile>[]> {
  const device = await selectDevice(ctx, query);
  const site = await selectSite(ctx, query.siteId);
  const rows = await ctx.db.prisma.edgeFile.findMany({
    where: {
      AND: [
        await visibleIn(ctx, query.projectId),
        { state: query.state ? { in: query.state } : { not: "indexed" } },
        device ? { deviceId: device.id } : {},
        site ? { agent: { siteId: site.id } } : {},
      ],
    },
    ...columns,
    orderBy: [{ reportedAtNs: "asc" }, { id: "asc" }],
    take: query.limit,
    skip: query.offset,
  });
  return toEdgeFiles(ctx, rows);
}

async function getEdgeFile(ctx: Ctx, id: string): Promise<Complete<EdgeFile>> {
  const row = await ctx.db.prisma.edgeFile.findUnique({ where: { id }, ...columns });
  const [file] = await toEdgeFiles(ctx, [row ?? throwNotFound(`edge file ${id}`)]);
  return file ?? throwNotFound(`edge file ${id}`);
}

async function toEdgeFiles({ db }: Ctx, rows: readonly Row[]): Promise<Complete<EdgeFile>[]> {
  const salvages = await db.prisma.salvageRequest.findMany({
    where: { agentId: { in: rows.map((row) => row.agentId) }, versionId: { in: rows.map((row) => row.versionId) } },
  });
  const ids = rows.flatMap(({ deviceId }) => deviceId ?? []);
  const devices = await db.prisma.device.findMany({ where: { id: { in: [...new Set(ids)] } }, ...summary });
  const byVersion = new Map(salvages.map((salvage) => [`${salvage.agentId} ${salvage.versionId}`, salvage]));
  const byId = new Map(devices.map((device) => [device.id, device]));
  return rows.flatMap((row) => {
    const [device, salvage] = [byId.get(row.deviceId ?? ""), byVersion.get(`${row.agentId} ${row.versionId}`)];
    return toEdgeFile(row, { device, salvage });
  });
}

interface Details {
  readonly device: EdgeFile["device"];
  readonly salvage: SalvageRequestModel | undefined;
}

/** A file that became a recording meanwhile is left out. */
function toEdgeFile(row: Row, { device, salvage }: Details): Complete<EdgeFile>[] {
  const { state, reasonCode, reasonText, salvageStartNs, salvageEndNs } = row;
  if (state === "indexed") return [];
  const file = {
    id: row.id,
    projectId: row.projectId ?? undefined,
    device,
    edgeSite: row.agent.site ?? undefined,
    path: row.path,
    size: Number(row.sizeBytes),
    state,
    reason: reasonCode === null ? undefined : { code: reasonCode, text: reasonText ?? "" },
    salvage:
      salvageStartNs === null || salvageEndNs === null ? undefined : { start: salvageStartNs, end: salvageEndNs },
    salvageRequest: salvage && toSalvageRequest(salvage),
    modifiedAt: row.modifiedAtNs,
    reportedAt: row.reportedAtNs,
  };
  return [file];
}

/** Requests that are gone or superseded belong to an earlier version of the file. */
function toSalvageRequest({
  state,
  reasonCode,
  reasonText,
  ...row
}: SalvageRequestModel): Complete<SalvageRequest> | undefined {
  if (state === "gone" || state === "superseded") return undefined;
  return {
    state,
    reason: reasonCode === null ? undefined : { code: reasonCode, text: reasonText ?? "" },
    recordingId: row.recordingId ?? undefined,
    requestedAt: row.updatedAtNs,
  };
}
