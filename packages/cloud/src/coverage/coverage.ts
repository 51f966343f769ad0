import { type api, type CoverageRange, type ImportStatus, type Input, MIN_TOLERANCE_SECONDS } from "@downlink/protocol";
import type { Ctx } from "../context.ts";
import { Prisma } from "../db/generated/client.ts";
import { selectDevice } from "../devices/find-device.ts";
import type { Handlers } from "../http/serve.ts";
import { visibleIn } from "../projects/find-project.ts";
import { scopeWhere } from "../projects/scope-sql.ts";

type Contract = typeof api.coverage;
type ListQuery = Input<Contract["list"]>;

export const coverage: Handlers<Contract> = { list: listCoverage };

interface Row {
  deviceId: string | null;
  deviceName: string | null;
  importStatus: string;
  startNs: bigint;
  endNs: bigint;
  recordingCount: bigint;
}

/** Gaps and islands: a recording opens a range unless it starts within the tolerance of all that came before it. */
async function listCoverage(ctx: Ctx, query: ListQuery): Promise<CoverageRange[]> {
  const toleranceNs = BigInt(Math.round(Math.max(query.tolerance, MIN_TOLERANCE_SECONDS) * 1e9));
  const status = query.includeEdgeRecordings ? Prisma.sql`r."importStatus"` : Prisma.sql`'complete'::text`;
  const rows = await ctx.db.prisma.$queryRaw<Row[]>`
    WITH selected AS (
      SELECT r."deviceId", ${status} AS "importStatus", r."startNs", r."endNs",
        max(r."endNs") OVER (PARTITION BY r."deviceId", ${status} ORDER BY r."startNs", r."endNs"
          ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS "reachedNs"
      FROM "Recording" r WHERE ${await conditions(ctx, query)}
    ), islands AS (
      SELECT *, count(*) FILTER (WHERE "reachedNs" IS NULL OR "startNs" - "reachedNs" > ${toleranceNs})
        OVER (PARTITION BY "deviceId", "importStatus" ORDER BY "startNs", "endNs" ROWS UNBOUNDED PRECEDING) AS island
      FROM selected
    )
    SELECT i."deviceId", d.name AS "deviceName", i."importStatus", min(i."startNs") AS "startNs", max(i."endNs") AS "endNs",
      count(*) AS "recordingCount"
    FROM islands i LEFT JOIN "Device" d ON d.id = i."deviceId"
    GROUP BY i."deviceId", d.name, i."importStatus", island
    ORDER BY i."deviceId" NULLS LAST, "startNs", "endNs", i."importStatus"`;
  return rows.map((row) => toRange(row, query.includeEdgeRecordings));
}

async function conditions(ctx: Ctx, query: ListQuery): Promise<Prisma.Sql> {
  const device = await selectDevice(ctx, query);
  const scope = await visibleIn(ctx, query.projectId);
  const namesRecordings = [
    query.recordingId,
    query.recordingKey,
    query.sessionId,
    query.sessionKey,
    query.importId,
  ].some(Boolean);
  const all = [
    ...scopeWhere("r", scope),
    Prisma.sql`r."endNs" >= ${query.start}`,
    Prisma.sql`r."startNs" <= ${query.end}`,
    ...(query.includeEdgeRecordings ? [] : [Prisma.sql`r."importStatus" = 'complete'`]),
    ...(device ? [Prisma.sql`r."deviceId" = ${device.id}`] : []),
    ...(query.recordingId === undefined ? [] : [Prisma.sql`r.id = ${query.recordingId}`]),
    ...(query.recordingKey === undefined ? [] : [Prisma.sql`r.key = ${query.recordingKey}`]),
    ...(query.importId === undefined ? [] : [Prisma.sql`r."importId" = ${query.importId}`]),
    ...(query.sessionId === undefined ? [] : [Prisma.sql`r."sessionId" = ${query.sessionId}`]),
    ...(query.sessionKey === undefined
      ? []
      : [
          Prisma.sql`r."sessionId" IN (SELECT s.id FROM "Session" s WHERE s."orgId" = ${scope.orgId} AND s.key = ${query.sessionKey})`,
        ]),
    ...(namesRecordings ? [] : [Prisma.sql`r."deviceId" IS NOT NULL`]),
  ];
  return Prisma.join(all, " AND ");
}

const deprecatedStatus = {
  complete: "imported",
  pending: "import-pending",
  importing: "import-pending",
  none: "at-edge",
  failed: "at-edge",
} as const;

function toRange(row: Row, withEdge: boolean): CoverageRange {
  const importStatus = row.importStatus as ImportStatus;
  return {
    deviceId: row.deviceId ?? undefined,
    device: row.deviceId === null ? undefined : { id: row.deviceId, name: row.deviceName! },
    start: row.startNs,
    end: row.endNs,
    status: deprecatedStatus[importStatus],
    importStatus: withEdge ? importStatus : undefined,
    recordingCount: withEdge ? Number(row.recordingCount) : undefined,
  };
}
