import type { api, Input, ListedSession } from "@downlink/protocol";
import type { Ctx } from "../context.ts";
import { Prisma } from "../db/generated/client.ts";
import { inOrderOf } from "../db/in-order-of.ts";
import { touches } from "../db/span-sql.ts";
import { selectDevice } from "../devices/find-device.ts";
import { visibleIn } from "../projects/find-project.ts";
import { scopeWhere } from "../projects/scope-sql.ts";
import { jsonbWhere } from "../search/jsonb-where.ts";
import { narrowingOf } from "../search/narrowing-of.ts";
import { parseQuery } from "../search/terms.ts";
import { sessionColumns, toListedSession } from "./session-rows.ts";

type ListQuery = Input<(typeof api.sessions)["list"]>;
type Sql = Prisma.Sql;

/** Three queries whatever the page: its ids, its sessions with their devices, the recordings of all of them. */
export async function listSessions(ctx: Ctx, query: ListQuery): Promise<ListedSession[]> {
  const found = await ctx.db.prisma.$queryRaw<{ id: string }[]>`
    SELECT s.id FROM "Session" s WHERE ${Prisma.join(await conditions(ctx, query), " AND ")}
    ORDER BY ${order(query)} LIMIT ${query.limit} OFFSET ${query.offset}`;
  const ids = found.map(({ id }) => id);
  const rows = await ctx.db.prisma.session.findMany({ where: { id: { in: ids } }, select: sessionColumns });
  return inOrderOf(ids, rows).map(toListedSession);
}

async function conditions(ctx: Ctx, query: ListQuery): Promise<Sql[]> {
  const device = await selectDevice(ctx, query);
  const terms = parseQuery(query.query ?? "");
  return [
    ...scopeWhere("s", await visibleIn(ctx, query.projectId)),
    Prisma.sql`s."deletedAtNs" IS NULL`,
    ...(device ? [Prisma.sql`s."deviceId" = ${device.id}`] : []),
    ...(query.keyMatches ? [Prisma.sql`s.key ILIKE ${partOf(query.keyMatches)}`] : []),
    ...hasRecordingWithin(query, ctx.caller.orgId),
    ...(terms.length === 0
      ? []
      : [jsonbWhere(Prisma.sql`s.properties`, terms, await narrowingOf(ctx, "Session", terms))]),
  ];
}

/** Some one recording touches the span; both ends inclusive. */
function hasRecordingWithin(query: ListQuery, orgId: string): Sql[] {
  const within = touches("r", query);
  if (within.length === 0) return [];
  const where = [Prisma.sql`r."orgId" = ${orgId}`, Prisma.sql`r."sessionId" IS NOT NULL`, ...within];
  return [Prisma.sql`s.id IN (SELECT r."sessionId" FROM "Recording" r WHERE ${Prisma.join(where, " AND ")})`];
}

function partOf(text: string): string {
  return `%${text.replace(/[\\%_]/g, "\\$&")}%`;
}

/** Total: the id breaks ties. */
function order({ sortBy = "createdAt", sortOrder }: ListQuery): Sql {
  const direction = Prisma.raw(sortOrder);
  if (sortBy === "id") return Prisma.sql`s.id ${direction}`;
  return Prisma.sql`s.${Prisma.raw(`"${sortBy}Ns"`)} ${direction}, s.id ${direction}`;
}
