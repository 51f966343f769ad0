import type { Ctx } from "../../calls/context/context.ts";
import type { ColumnFilter } from "../../calls/search/list-by-column.ts";
import { throwNotFound } from "../../core/errors.ts";
import { Prisma } from "../../db/generated/client.ts";
import { lookUpDevice, selectDevice } from "../../fleet/devices/find-device.ts";
import { lookUpSession, selectSession } from "../../fleet/sessions/find-session.ts";
import { visibleIn } from "../../organization/projects/find-project.ts";
import { scopeWhere } from "../../organization/projects/scope-sql.ts";

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

/** The filters that pending imports and import errors have in common, besides their organization. */
export async function commonFilters(ctx: Ctx, query: Selector): Promise<ColumnFilter[]> {
  const { projectId, error, hasProjectId, siteBackfillJobId } = query;
  const [_org, ...projects] = scopeWhere("r", await visibleIn(ctx, projectId));
  const exact = { ...(await filterByDevice(ctx, query)), errorText: error };
  const others = [
    ...projects,
    ...(hasProjectId === undefined ? [] : [Prisma.raw(`r."projectId" IS ${hasProjectId ? "NOT NULL" : "NULL"}`)]),
    ...(siteBackfillJobId === undefined ? [] : [Prisma.sql`FALSE`]), // there are no such jobs
    ...(await filterBySession(ctx, query)),
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

/**
 * A name that no device has may belong to one that was renamed or deleted since, because the requests keep it. 404 if no request has it
 * either.
 */
async function filterByDevice(ctx: Ctx, query: Selector): Promise<{ deviceId?: string; deviceName?: string }> {
  const { deviceId, deviceName, projectId } = query;
  const device = await (deviceId ? selectDevice(ctx, query) : lookUpDevice(ctx, query));
  if (device) return { deviceId: device.id };
  if (!deviceName) return {};
  if (!(await isInRequests(ctx, projectId, { deviceName }))) throwNotFound(`device "${deviceName}"`);
  return { deviceName };
}

/**
 * Selects imports into a session, whether the session was given by id, by key, or found when the file was imported. The id wins. A key that
 * no session has is accepted if a request names it, because its session may be created once the file says which device it belongs to.
 */
async function filterBySession(ctx: Ctx, query: Selector): Promise<Sql[]> {
  const { sessionId, sessionKey, projectId } = query;
  const session = await (sessionId ? selectSession(ctx, query) : lookUpSession(ctx, query));
  if (session) {
    const byId = Prisma.sql`r."sessionId" = ${session.id}`;
    if (session.key === null) return [byId];
    return [Prisma.sql`((r."sessionKey" = ${session.key} AND r."projectId" = ${session.projectId}) OR ${byId})`];
  }
  if (!sessionKey) return [];
  if (!(await isInRequests(ctx, projectId, { sessionKey }))) throwNotFound(`session "${sessionKey}"`);
  return [Prisma.sql`r."sessionKey" = ${sessionKey}`];
}

async function isInRequests(
  ctx: Ctx,
  projectId: string | undefined,
  named: { deviceName: string } | { sessionKey: string },
): Promise<boolean> {
  const where = { AND: [await visibleIn(ctx, projectId), named] };
  return (await ctx.db.prisma.importRequest.findFirst({ where, select: { id: true } })) !== null;
}
