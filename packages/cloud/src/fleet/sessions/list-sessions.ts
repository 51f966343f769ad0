import type { api, Input, ListedSession } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import { chooseNarrowing } from "../../calls/search/choose-narrowing.ts";
import { findPage, type Listed } from "../../calls/search/find-page.ts";
import { hasPart } from "../../calls/search/has-part.ts";
import { jsonbWhere } from "../../calls/search/jsonb-where.ts";
import { parseQuery } from "../../calls/search/terms.ts";
import type { Complete } from "../../core/complete.ts";
import { Prisma } from "../../db/generated/client.ts";
import { newPoolReader } from "../../db/read-sql.ts";
import { sortByIds } from "../../db/sort-by-ids.ts";
import { columnsOfRecording, reachesBySpans, splitTouching, touches } from "../../db/span-sql.ts";
import { avoidIndex } from "../../db/text-sql.ts";
import { visibleIn } from "../../organization/projects/find-project.ts";
import { scopeWhere } from "../../organization/projects/scope-sql.ts";
import { selectDevice } from "../devices/find-device.ts";
import { sessionColumns, toListedSession } from "./session-rows.ts";

type ListQuery = Input<(typeof api.sessions)["list"]>;
type Sql = Prisma.Sql;

/** Finds first the ids of the page, from narrow rows; then its sessions with their devices, and the recordings of all of them. */
export async function listSessions(ctx: Ctx, query: ListQuery): Promise<Complete<ListedSession>[]> {
  const ids = await findPage(newPoolReader(ctx.db), [await toListed(ctx, query)], query);
  const rows = await ctx.db.prisma.session.findMany({ where: { id: { in: ids } }, select: sessionColumns });
  return sortByIds(ids, rows).map(toListedSession);
}

async function toListed(ctx: Ctx, query: ListQuery): Promise<Listed> {
  const where = await conditions(ctx, query);
  const { sortBy = "createdAt", sortOrder } = query;
  const column = Prisma.raw(`r."${sortBy}Ns"`);
  const rows = { from: Prisma.sql`"Session" r`, ranges: [], sortOrder };
  const inOrder = { ...rows, where, keys: sortBy === "id" ? [] : [column] };
  const unindexedKeys = [sortBy === "id" ? avoidIndex(Prisma.sql`r.id`, "text") : avoidIndex(column, "number")];
  const { isRecorded, areRecorded } = buildRecordedWhere(query, ctx.caller.orgId);
  return {
    inOrder,
    filters: isRecorded,
    matching: { ...rows, where: [...where, ...areRecorded], keys: unindexedKeys },
  };
}

async function conditions(ctx: Ctx, query: ListQuery): Promise<Sql[]> {
  const device = await selectDevice(ctx, query);
  const terms = parseQuery(query.query ?? "");
  return [
    ...scopeWhere("r", await visibleIn(ctx, query.projectId)),
    Prisma.sql`r."deletedAtNs" IS NULL`,
    ...(device ? [Prisma.sql`r."deviceId" = ${device.id}`] : []),
    ...(query.keyMatches ? [hasPart(Prisma.sql`r.key`, query.keyMatches).where] : []),
    ...(terms.length === 0
      ? []
      : [jsonbWhere(Prisma.sql`r.properties`, terms, { narrowing: await chooseNarrowing(ctx, "Session", terms) })]),
  ];
}

/** The condition that one recording touches the span, both ends inclusive: for a session, and for all sessions at once. */
function buildRecordedWhere(query: ListQuery, orgId: string): { isRecorded: Sql[]; areRecorded: Sql[] } {
  const within = [...touches("x", query), ...reachesBySpans(columnsOfRecording("x"), query)];
  if (within.length === 0) return { isRecorded: [], areRecorded: [] };
  const touching = splitTouching("x", query, "start").map(
    (range) => Prisma.sql`
      SELECT x."sessionId" FROM "Recording" x WHERE x."orgId" = ${orgId} AND x."sessionId" IS NOT NULL AND ${range}`,
  );
  return {
    isRecorded: [
      Prisma.sql`EXISTS (SELECT FROM "Recording" x WHERE x."sessionId" = r.id AND ${Prisma.join(within, " AND ")})`,
    ],
    areRecorded: [Prisma.sql`r.id IN (${Prisma.join(touching, " UNION ")})`],
  };
}
