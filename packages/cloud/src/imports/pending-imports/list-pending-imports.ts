import type { api, Input, PendingImport } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import { findPage } from "../../calls/search/find-page.ts";
import { hasPart } from "../../calls/search/has-part.ts";
import { type ColumnFilter, listByColumn } from "../../calls/search/list-by-column.ts";
import type { Complete } from "../../core/complete.ts";
import { throwNotFound } from "../../core/errors.ts";
import { Prisma } from "../../db/generated/client.ts";
import { equalsByHash } from "../../db/hashed-sql.ts";
import { newPoolReader } from "../../db/read-sql.ts";
import { sortByIds } from "../../db/sort-by-ids.ts";
import { importRequestStates, workingStates } from "../../import-life/import-request-state.ts";
import { visibleTo } from "../../organization/projects/find-project.ts";
import { selectSite } from "../../organization/projects/find-site.ts";
import { commonFilters } from "./common-filters.ts";
import { toPendingImport, withRecording } from "./pending-import-rows.ts";
import { orderRequests } from "./request-order.ts";

type Contract = typeof api.pendingImports;
type ListQuery = Input<Contract["list"]>;
type ErrorsQuery = Input<Contract["errors"]>;

/**
 * A request that waits for its bytes is no pending import yet; complete and quarantined requests are listed if the query asks for them. By
 * its id a request is found in every state.
 */
export async function listPendingImports(ctx: Ctx, query: ListQuery): Promise<Complete<PendingImport>[]> {
  const { requestId, key, filename, siteId, updatedSince, showCompleted, showQuarantined } = query;
  const isOne = requestId !== undefined;
  const states = isOne ? importRequestStates : [...workingStates, "error", ...(showCompleted ? ["complete"] : [])];
  const site = await selectSite(ctx, siteId);
  const conditions = [
    ...(isOne ? [Prisma.sql`r.id = ${requestId}`] : []),
    ...(key === undefined ? [] : [Prisma.sql`r.key = ${key}`]),
    ...(site ? [Prisma.sql`r."siteId" = ${site.id}`] : []),
  ];
  const since = { column: "updatedAtNs", where: Prisma.sql`r."updatedAtNs" >= ${updatedSince}` };
  const filters = [
    ...conditions.map((where) => ({ where })),
    ...(filename === undefined ? [] : [{ orderedBy: "deviceId", where: equalsByHash("filename", filename) }]),
    ...(showQuarantined || isOne
      ? []
      : [{ column: "quarantinedAtNs", where: Prisma.sql`r."quarantinedAtNs" IS NULL` }]),
    ...(updatedSince === undefined ? [] : [since]),
  ];
  return readPage(ctx, query, { states, filters });
}

/** Lists all that failed; quarantined requests, which failed for ever, are included. */
export async function listImportErrors(ctx: Ctx, query: ErrorsQuery): Promise<Complete<PendingImport>[]> {
  const { filenameMatches } = query;
  return readPage(ctx, query, {
    states: ["error"],
    filters: filenameMatches ? [hasPart(Prisma.sql`r.filename`, filenameMatches)] : [],
  });
}

interface Shown {
  readonly states: readonly string[];
  readonly filters: readonly ColumnFilter[];
}

/** Answers one request, in whatever state it is. */
export async function getPendingImport(
  ctx: Ctx,
  { requestId }: Input<Contract["get"]>,
): Promise<Complete<PendingImport>> {
  const where = { AND: [{ id: requestId }, visibleTo(ctx)] };
  const row = await ctx.db.prisma.importRequest.findFirst({ where, include: withRecording });
  return row ? toPendingImport(ctx, row) : throwNotFound(`import request ${requestId}`);
}

/** Finds first the ids of the page, from narrow rows, and then the page itself. */
async function readPage(
  ctx: Ctx,
  query: ListQuery | ErrorsQuery,
  { states, filters }: Shown,
): Promise<Complete<PendingImport>[]> {
  const { sortBy, sortOrder } = query;
  const all = [...(await commonFilters(ctx, query)), ...filters];
  // Only an error has a text: with the state as a condition, the index of errors finds it.
  const shown = query.error === undefined ? states : ["error"];
  const list = { table: "ImportRequest", orgId: ctx.caller.orgId, filters: all, sortOrder };
  const parts = orderRequests(sortBy, shown).map((part) => listByColumn({ ...list, part }));
  const ids = await findPage(newPoolReader(ctx.db), parts, query);
  const rows = await ctx.db.prisma.importRequest.findMany({ where: { id: { in: ids } }, include: withRecording });
  return sortByIds(ids, rows).map((row) => toPendingImport(ctx, row));
}
