import type { api, EdgeFile, EdgeFileState, Input } from "@downlink/protocol";
import type { Ctx } from "../context.ts";
import type { Prisma } from "../db/generated/client.ts";
import { selectDevice } from "../devices/find-device.ts";
import type { Handlers } from "../http/serve.ts";
import { visibleIn } from "../projects/find-project.ts";

type Contract = typeof api.edgeFiles;

export const edgeFiles: Handlers<Contract> = { list: listEdgeFiles };

const columns = { include: { agent: { select: { device: { select: { id: true, name: true } } } } } } as const;

async function listEdgeFiles(ctx: Ctx, query: Input<Contract["list"]>): Promise<EdgeFile[]> {
  const device = await selectDevice(ctx, query);
  const rows = await ctx.db.prisma.edgeFile.findMany({
    where: {
      AND: [
        await visibleIn(ctx, query.projectId),
        { state: query.state ? { in: query.state } : { not: "indexed" } },
        device ? { deviceId: device.id } : {},
        query.siteId === undefined ? {} : { id: { in: [] } }, // agents belong to devices; edge sites have none yet
      ],
    },
    ...columns,
    orderBy: [{ reportedAtNs: "asc" }, { id: "asc" }],
    take: query.limit,
    skip: query.offset,
  });
  return rows.map(toEdgeFile);
}

function toEdgeFile(row: Prisma.EdgeFileGetPayload<typeof columns>): EdgeFile {
  const { reasonCode, reasonText, salvageStartNs, salvageEndNs } = row;
  return {
    id: row.id,
    projectId: row.projectId,
    device: row.agent.device,
    path: row.path,
    size: Number(row.sizeBytes),
    state: row.state as EdgeFileState,
    reason: reasonCode === null ? undefined : { code: reasonCode, text: reasonText ?? "" },
    salvage:
      salvageStartNs === null || salvageEndNs === null ? undefined : { start: salvageStartNs, end: salvageEndNs },
    modifiedAt: row.modifiedAtNs,
    reportedAt: row.reportedAtNs,
  };
}
