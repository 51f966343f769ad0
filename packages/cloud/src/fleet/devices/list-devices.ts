// Device lists sort by a property in SQL without an index (70 ms for 100,000 devices) and not with one index for each key, because keys
// come and go. One GIN index on `properties` serves both the queries and the search before a property is deleted.

import type { api, Device, Input } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import { chooseNarrowing } from "../../calls/search/choose-narrowing.ts";
import { isFirstPage } from "../../calls/search/first-page.ts";
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

/** This SQL is written by hand: Prisma can express neither the query's terms nor the order of a property's values. */
export async function listDevices(ctx: Ctx, query: ListQuery): Promise<Complete<Device>[]> {
  const nowNs = ctx.clock.nowNs();
  if (isFirstPage(ctx, query))
    return (await selectOldestDevices(ctx.db, { orgId: ctx.caller.orgId, limit: query.limit })).map((row) =>
      toDeviceWithAgent(row, nowNs),
    );
  const ids = (await findDevices(ctx, query)).map(({ id }) => id);
  return sortByIds(ids, await selectDevices(ctx.db, { ids })).map((row) => toDeviceWithAgent(row, nowNs));
}

interface Sought extends ListQuery {
  readonly deviceIds?: readonly string[] | undefined;
}

/** Finds the devices of a page of the list; with `deviceIds`, those among them. */
export async function findDevices(ctx: Ctx, query: Sought): Promise<{ id: string; name: string }[]> {
  const terms = parseQuery(query.query ?? "", { prefix: PREFIX });
  const where = [
    ...scopeWhere("d", await visibleIn(ctx, query.projectId)),
    ...(query.deviceIds ? [Prisma.sql`d.id = ANY(${[...query.deviceIds]})`] : []),
    ...(query.nameMatches ? [hasPart(Prisma.sql`d.name`, query.nameMatches).where] : []),
    ...(terms.length === 0
      ? []
      : [jsonbWhere(Prisma.sql`d.properties`, terms, { narrowing: await chooseNarrowing(ctx, "Device", terms) })]),
  ];
  const { from, keys } = orderOf(query);
  return newPoolReader(ctx.db)(Prisma.sql`
    SELECT d.id, d.name FROM ${from} WHERE ${Prisma.join(where, " AND ")}
    ORDER BY ${Prisma.join(keys)} LIMIT ${query.limit} OFFSET ${query.offset}`);
}

interface Order {
  readonly from: Prisma.Sql;
  readonly keys: readonly Prisma.Sql[];
}

/** Devices without a value come last either way. */
function orderOf({ sortBy = "createdAtNs", sortOrder }: ListQuery): Order {
  const direction = Prisma.raw(sortOrder);
  const devices = Prisma.sql`"Device" d`;
  const byId = Prisma.sql`d.id ${direction}`;
  const valueLast = (value: Prisma.Sql) => [Prisma.sql`${value} ${direction} NULLS LAST`, byId];
  const ofAgent = agentKeys[sortBy];
  if (ofAgent)
    return { from: Prisma.sql`${devices} LEFT JOIN "Agent" a ON a."deviceId" = d.id`, keys: valueLast(ofAgent) };
  if (sortBy.startsWith(PREFIX))
    return { from: devices, keys: valueLast(Prisma.sql`d.properties -> ${sortBy.slice(PREFIX.length)}::text`) };
  return { from: devices, keys: [Prisma.sql`d.${Prisma.raw(`"${sortBy}"`)} ${direction}`, byId] };
}

/** No index holds what agents report every half minute. A status may have any shape, because an earlier version may have stored it. */
const agentKeys: Readonly<Record<string, Prisma.Sql>> = {
  lastSeenAt: Prisma.sql`a."lastSeenAtNs"`,
  problems: Prisma.sql`
    CASE WHEN jsonb_typeof(a.status -> 'problems') = 'array' THEN jsonb_array_length(a.status -> 'problems') END`,
  freeBytes: Prisma.sql`a.status #> '{disk,freeBytes}'`,
};
