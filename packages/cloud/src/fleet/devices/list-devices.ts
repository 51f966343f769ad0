// Device lists sort by a property in SQL without an index (70 ms for 100,000 devices) and not with one index for each key, because keys
// come and go. One GIN index on `properties` serves both the queries and the search before a property is deleted.

import { type api, type CursorHeaders, type Device, type Input, ORDERED_CHARACTERS } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import { chooseNarrowing } from "../../calls/search/choose-narrowing.ts";
import {
  type CursorPage,
  closePage,
  nullableOrder,
  openPage,
  type Place,
  pageOrder,
  type SortColumns,
  selectBeyondCursor,
  selectBeyondNullable,
} from "../../calls/search/cursor-page.ts";
import { isFirstPage, placeByCreation } from "../../calls/search/first-page.ts";
import { hasPart } from "../../calls/search/has-part.ts";
import { jsonbWhere } from "../../calls/search/jsonb-where.ts";
import { parseQuery } from "../../calls/search/terms.ts";
import type { Complete } from "../../core/complete.ts";
import { Prisma } from "../../db/generated/client.ts";
import { newPoolReader } from "../../db/read-sql.ts";
import { sortByIds } from "../../db/sort-by-ids.ts";
import { visibleIn } from "../../organization/projects/find-project.ts";
import { scopeWhere } from "../../organization/projects/scope-sql.ts";
import { selectDevices, selectOldestDevices, toDeviceWithAgent } from "./device-rows.ts";

type ListQuery = Input<(typeof api.devices)["list"]>;

const PREFIX = "properties.";
const ORDERED = Prisma.raw(String(ORDERED_CHARACTERS));

interface Answered {
  readonly output: Complete<Device>[];
  readonly headers: Complete<CursorHeaders>;
}

/** This SQL is written by hand: Prisma can express neither the query's terms nor the order of a property's values. */
export async function listDevices(ctx: Ctx, query: ListQuery): Promise<Answered> {
  const page = openPage(ctx, "devices.list", query);
  const nowNs = ctx.clock.nowNs();
  if (isFirstPage(ctx, query)) {
    const found = await selectOldestDevices(ctx.db, { orgId: ctx.caller.orgId, limit: page.take });
    const { rows, headers } = closePage(ctx, page, found.map(placeByCreation));
    return { output: rows.map((row) => toDeviceWithAgent(row, nowNs)), headers };
  }
  const { rows, headers } = closePage(ctx, page, await findPlaces(ctx, query, page));
  const ids = rows.map(({ id }) => id);
  const devices = sortByIds(ids, await selectDevices(ctx.db, { ids }));
  return { output: devices.map((row) => toDeviceWithAgent(row, nowNs)), headers };
}

interface Sought extends Omit<ListQuery, "cursor"> {
  readonly deviceIds?: readonly string[] | undefined;
}

interface FoundDevice extends Place {
  readonly name: string;
}

/** Finds the devices of a page of the list; with `deviceIds`, those among them. */
export async function findDevices(ctx: Ctx, query: Sought): Promise<FoundDevice[]> {
  const { limit, offset, sortOrder } = query;
  return findPlaces(ctx, query, { from: undefined, order: sortOrder, take: limit, offset });
}

type Part = Pick<CursorPage, "from" | "order" | "take" | "offset">;

async function findPlaces(ctx: Ctx, query: Sought, page: Part): Promise<FoundDevice[]> {
  const terms = parseQuery(query.query ?? "", { prefix: PREFIX });
  const { from, columns } = orderOf(query);
  const where = [
    ...scopeWhere("d", await visibleIn(ctx, query.projectId)),
    ...(query.deviceIds ? [Prisma.sql`d.id = ANY(${[...query.deviceIds]})`] : []),
    ...(query.nameMatches ? [hasPart(Prisma.sql`d.name`, query.nameMatches).where] : []),
    ...(terms.length === 0
      ? []
      : [jsonbWhere(Prisma.sql`d.properties`, terms, { narrowing: await chooseNarrowing(ctx, "Device", terms) })]),
    ...(columns.isNullable ? selectBeyondNullable(page, columns) : selectBeyondCursor(page, columns)),
  ];
  const order = columns.isNullable ? nullableOrder(page, columns) : pageOrder(page, columns);
  return newPoolReader(ctx.db)(Prisma.sql`
    SELECT d.id, d.name, (${columns.sortValue})::text AS "sortValue" FROM ${from} WHERE ${Prisma.join(where, " AND ")}
    ORDER BY ${order} LIMIT ${page.take} OFFSET ${page.offset}`);
}

interface Order {
  readonly from: Prisma.Sql;
  readonly columns: SortColumns & { readonly isNullable: boolean };
}

/** Devices without a value come last either way. */
function orderOf({ sortBy = "createdAtNs" }: Sought): Order {
  const devices = Prisma.sql`"Device" d`;
  const id = Prisma.sql`d.id`;
  const ofAgent = agentValues[sortBy];
  if (ofAgent) {
    const from = Prisma.sql`${devices} LEFT JOIN "Agent" a ON a."deviceId" = d.id`;
    return { from, columns: { ...ofAgent, id, isNullable: true } };
  }
  if (sortBy.startsWith(PREFIX)) {
    const property = Prisma.sql`d.properties -> ${sortBy.slice(PREFIX.length)}::text`;
    return { from: devices, columns: { ...boundedJson(property), id, isNullable: true } };
  }
  const sortValue = Prisma.sql`d.${Prisma.raw(`"${sortBy}"`)}`;
  const type = sortBy === "createdAtNs" ? "bigint" : "text";
  return { from: devices, columns: { sortValue, type, id, isNullable: false } };
}

type Value = Pick<SortColumns, "sortValue" | "type">;

/** Only the beginning of a long value counts for the order. */
function boundedJson(value: Prisma.Sql): Value {
  const text = Prisma.sql`(${value}) #>> '{}'`;
  const sortValue = Prisma.sql`
    CASE WHEN length(${text}) > ${ORDERED} THEN to_jsonb(left(${text}, ${ORDERED})) ELSE ${value} END`;
  return { sortValue, type: "jsonb" };
}

/** No index holds what agents report every half minute. A status may have any shape, because an earlier version may have stored it. */
const agentValues: Readonly<Record<string, Value>> = {
  lastSeenAt: { sortValue: Prisma.sql`a."lastSeenAtNs"`, type: "bigint" },
  problems: {
    sortValue: Prisma.sql`
      CASE WHEN jsonb_typeof(a.status -> 'problems') = 'array' THEN jsonb_array_length(a.status -> 'problems') END`,
    type: "integer",
  },
  freeBytes: boundedJson(Prisma.sql`a.status #> '{disk,freeBytes}'`),
};
