import type { api, Device, Input } from "@downlink/protocol";
import type { Ctx } from "../context.ts";
import { Prisma } from "../db/generated/client.ts";
import type { DeviceModel } from "../db/generated/models.ts";
import { visibleIn } from "../projects/find-project.ts";
import { scopeWhere } from "../projects/scope-sql.ts";
import { jsonbWhere } from "../search/jsonb-where.ts";
import { narrowingOf } from "../search/narrowing-of.ts";
import { parseQuery } from "../search/terms.ts";
import { withAgents } from "./device-agents.ts";
import { toDevice } from "./device-rows.ts";

type ListQuery = Input<(typeof api.devices)["list"]>;

const PREFIX = "properties.";

/** In SQL by hand: neither the query's terms nor the order of a property's values can be said to Prisma. */
export async function listDevices(ctx: Ctx, query: ListQuery): Promise<Device[]> {
  const scope = scopeWhere("d", await visibleIn(ctx, query.projectId));
  const terms = parseQuery(query.query ?? "", { prefix: PREFIX });
  const narrowing = await narrowingOf(ctx, "Device", terms);
  const where = [...scope, ...(terms.length === 0 ? [] : [jsonbWhere(Prisma.sql`d.properties`, terms, narrowing)])];
  const rows = await ctx.db.prisma.$queryRaw<DeviceModel[]>`
    SELECT d.* FROM "Device" d WHERE ${Prisma.join(where, " AND ")}
    ORDER BY ${order(query)} LIMIT ${query.limit} OFFSET ${query.offset}`;
  return withAgents(ctx, rows.map(toDevice));
}

/** Values of one property are of one type: numbers go by value. Devices without the property come last either way. */
function order({ sortBy = "createdAtNs", sortOrder }: ListQuery): Prisma.Sql {
  const direction = Prisma.raw(sortOrder);
  if (!sortBy.startsWith(PREFIX)) return Prisma.sql`d.${Prisma.raw(`"${sortBy}"`)} ${direction}, d.id ${direction}`;
  const value = Prisma.sql`d.properties -> ${sortBy.slice(PREFIX.length)}::text`;
  return Prisma.sql`${value} ${direction} NULLS LAST, d.id ${direction}`;
}
