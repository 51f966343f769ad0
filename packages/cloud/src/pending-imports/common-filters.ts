import type { Ctx } from "../context.ts";
import { Prisma } from "../db/generated/client.ts";
import { selectDevice } from "../devices/find-device.ts";
import { visibleIn } from "../projects/find-project.ts";
import { scopeWhere } from "../projects/scope-sql.ts";
import type { ColumnFilter } from "../search/list-by-column.ts";

type Sql = Prisma.Sql;

interface Selector {
  readonly deviceId?: string | undefined;
  readonly deviceName?: string | undefined;
  readonly projectId?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly sessionKey?: string | undefined;
  readonly error?: string | undefined;
  readonly hasProjectId?: boolean | undefined;
  readonly siteBackfillJobId?: string | undefined;
}

/** What pending imports and import errors are filtered by alike, beside their organization. */
export async function commonFilters(ctx: Ctx, query: Selector): Promise<ColumnFilter[]> {
  const { deviceId, deviceName, projectId, error, hasProjectId, siteBackfillJobId } = query;
  const device = await selectDevice(ctx, { deviceId, projectId });
  const [_org, ...projects] = scopeWhere("r", await visibleIn(ctx, projectId));
  const exact = {
    deviceId: device?.id,
    deviceName: device ? undefined : deviceName || undefined, // also of one not yet created
    errorText: error,
  };
  const others = [
    ...projects,
    ...(hasProjectId === undefined ? [] : [Prisma.raw(`r."projectId" IS ${hasProjectId ? "NOT NULL" : "NULL"}`)]),
    ...(siteBackfillJobId === undefined ? [] : [Prisma.sql`FALSE`]), // there are no such jobs
    ...(await ofSession(ctx, query)),
  ];
  return [
    ...Object.entries(exact).flatMap(([column, value]) =>
      value === undefined
        ? []
        : [{ column, isExact: true, where: Prisma.sql`${Prisma.raw(`r."${column}"`)} = ${value}` }],
    ),
    ...others.map((where) => ({ where })),
  ];
}

/** Of imports into a session, whether it was given by id, by key, or found when the file was imported. The id wins. */
async function ofSession(ctx: Ctx, { sessionId, sessionKey, projectId }: Selector): Promise<Sql[]> {
  if (!sessionId && !sessionKey) return [];
  const live = await ctx.db.prisma.session.findMany({
    where: {
      AND: [
        await visibleIn(ctx, projectId),
        { deletedAtNs: null },
        sessionId ? { id: sessionId } : { key: sessionKey! },
      ],
    },
    select: { id: true, key: true, projectId: true },
  });
  const ids = sessionId ? [sessionId] : live.map(({ id }) => id);
  const byId = Prisma.sql`r."sessionId" = ANY(${ids})`;
  if (!sessionId) return [Prisma.sql`(r."sessionKey" = ${sessionKey} OR ${byId})`];
  const [session] = live;
  if (!session?.key) return [byId];
  return [Prisma.sql`((r."sessionKey" = ${session.key} AND r."projectId" = ${session.projectId}) OR ${byId})`];
}
