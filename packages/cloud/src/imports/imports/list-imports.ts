import { type api, fileTypes, formatTimestamp, type Import, type Input } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import { findPage } from "../../calls/search/find-page.ts";
import { type ColumnFilter, type ColumnPart, listByColumn } from "../../calls/search/list-by-column.ts";
import type { Complete } from "../../core/complete.ts";
import { Prisma } from "../../db/generated/client.ts";
import type { ImportModel } from "../../db/generated/models.ts";
import { equalsByHash } from "../../db/hashed-sql.ts";
import { newPoolReader } from "../../db/read-sql.ts";
import { sortByIds } from "../../db/sort-by-ids.ts";
import { splitAtStart } from "../../db/span-sql.ts";
import { selectDevice } from "../../fleet/devices/find-device.ts";
import { visibleIn } from "../../organization/projects/find-project.ts";
import { scopeWhere } from "../../organization/projects/scope-sql.ts";

type ListQuery = Input<(typeof api.imports)["list"]>;

/** Finds first the ids of the page, from narrow rows, and then the page itself. */
export async function listImports(ctx: Ctx, query: ListQuery): Promise<Complete<Import>[]> {
  const filters = await importFilters(ctx, query);
  const ranges = splitAtStart("r", { start: query.dataStart, end: query.dataEnd });
  const list = { table: "Import", orgId: ctx.caller.orgId, filters, ranges, sortOrder: query.sortOrder };
  const parts = orderImports(query).map((part) => listByColumn({ ...list, part }));
  const ids = await findPage(newPoolReader(ctx.db), parts, query);
  const rows = await ctx.db.prisma.import.findMany({ where: { id: { in: ids } } });
  return sortByIds(ids, rows).map(toImport);
}

/** The ranges of {@link splitAtStart} hold the condition already. */
const WITHIN_RANGES = Prisma.sql`TRUE`;

async function importFilters(ctx: Ctx, query: ListQuery): Promise<ColumnFilter[]> {
  const device = await selectDevice(ctx, query);
  const [_org, ...projects] = scopeWhere("r", await visibleIn(ctx, query.projectId));
  const { filename, start, end, includeDeleted } = query;
  const column = "importedAtNs";
  return [
    ...projects.map((where) => ({ where })),
    ...(includeDeleted ? [] : [{ column: "deletedAtNs", where: Prisma.sql`r."deletedAtNs" IS NULL` }]),
    ...(filename === undefined ? [] : [{ orderedBy: "deviceId", where: equalsByHash("filename", filename) }]),
    ...(device ? [{ column: "deviceId", isExact: true, where: Prisma.sql`r."deviceId" = ${device.id}` }] : []),
    ...(start === undefined ? [] : [{ column, where: Prisma.sql`r."importedAtNs" >= ${start}` }]),
    ...(end === undefined ? [] : [{ column, where: Prisma.sql`r."importedAtNs" <= ${end}` }]),
    ...filterByData(query),
  ];
}

function filterByData({ dataStart, dataEnd }: ListQuery): ColumnFilter[] {
  const narrowed = WITHIN_RANGES;
  if (dataStart !== undefined && dataEnd !== undefined && dataStart > dataEnd) return [{ where: Prisma.sql`FALSE` }];
  return [
    ...(dataStart === undefined ? [] : [{ column: "endNs", where: Prisma.sql`r."endNs" >= ${dataStart}`, narrowed }]),
    ...(dataEnd === undefined ? [] : [{ column: "startNs", where: Prisma.sql`r."startNs" <= ${dataEnd}`, narrowed }]),
  ];
}

const columns = { importId: undefined, importTime: "importedAtNs", dataStart: "startNs", dataEnd: "endNs" } as const;
const times = ["importedAtNs", "startNs", "endNs", "deletedAtNs"];

/** Imports without a device come last, in either order. */
function orderImports({ sortBy = "importTime" }: ListQuery): ColumnPart[] {
  if (sortBy !== "deviceId") return [{ column: columns[sortBy], where: [], covers: times }];
  return [
    { column: "deviceId", where: [Prisma.sql`r."deviceId" IS NOT NULL`], covers: times },
    { column: undefined, where: [Prisma.sql`r."deviceId" IS NULL`], covers: [] },
  ];
}

function toImport(row: ImportModel): Complete<Import> {
  const fileType = fileTypes[row.format];
  const sizeBytes = Number(row.sizeBytes);
  return {
    id: row.id,
    importId: row.id,
    orgId: row.orgId,
    deviceId: row.deviceId ?? undefined,
    deviceName: row.deviceName ?? undefined,
    filename: row.filename,
    importTime: row.importedAtNs,
    start: row.startNs,
    end: row.endNs,
    inputType: fileType,
    outputType: fileType, // the file is stored as it arrived
    inputSize: sizeBytes,
    totalOutputSize: sizeBytes,
    date: formatTimestamp(row.startNs).slice(0, 10).replaceAll("-", ""),
    deleted: row.deletedAtNs !== null,
  };
}
