import type { api, Event, Input } from "@downlink/protocol";
import type { Ctx } from "../context.ts";
import { Prisma } from "../db/generated/client.ts";
import type { DeviceModel } from "../db/generated/models.ts";
import { inOrderOf } from "../db/in-order-of.ts";
import { touches } from "../db/span-sql.ts";
import { selectDevice } from "../devices/find-device.ts";
import { visibleIn } from "../projects/find-project.ts";
import { scopeWhere } from "../projects/scope-sql.ts";
import { eventWhere } from "../search/jsonb-where.ts";
import { parseQuery, type Term } from "../search/terms.ts";
import { eventColumns, toEvent } from "./event-rows.ts";

type ListQuery = Input<(typeof api.events)["list"]>;
type Sql = Prisma.Sql;

/** How many rows of the order are looked at before the filter's own index is asked: about 20 ms. */
const PREFIX_ROWS = 20_000;

interface Plan {
  readonly where: readonly Sql[];
  readonly sortKey: SortKey;
  /** No index serves filter and order at once. */
  readonly isCrossed: boolean;
}

/** The ids of the page first, from narrow rows that sort in memory; then the page itself. */
export async function listEvents(ctx: Ctx, query: ListQuery): Promise<Event[]> {
  const device = await selectDevice(ctx, query);
  const terms = parseQuery(query.query ?? "");
  const sortKey = sortKeyOf(query, device);
  const crossed = isCrossed(query, sortKey);
  const plan = { where: await conditions(ctx, query, { device, terms }), sortKey, isCrossed: crossed };
  const mayBeCommon = sortKey !== "d.name" && (crossed || terms.some(hasNoTrigram));
  const prefix = mayBeCommon ? await pageOfPrefix(ctx, query, plan) : undefined;
  const ids = prefix ?? (await pageOfAll(ctx, query, plan));
  const rows = await ctx.db.prisma.event.findMany({ where: { id: { in: ids } }, select: eventColumns });
  return inOrderOf(ids, rows).map(toEvent);
}

/** Too short for the index of texts: it reads every row unless the first ones fill the page. */
function hasNoTrigram(term: Term): boolean {
  return term.kind === "contains" && term.text.length < 3;
}

/** What matches often fills the page from the first rows of the order; undefined where it does not. */
async function pageOfPrefix(ctx: Ctx, query: ListQuery, { where, sortKey }: Plan): Promise<string[] | undefined> {
  const order = orderBy(query, sortKey);
  const found = await ctx.db.prisma.$queryRaw<{ id: string }[]>`
    SELECT e.id FROM (
      SELECT e.* FROM "Event" e WHERE e."orgId" = ${ctx.caller.orgId} ORDER BY ${order} LIMIT ${PREFIX_ROWS}
    ) e WHERE ${Prisma.join([...where], " AND ")} ORDER BY ${order} LIMIT ${query.limit} OFFSET ${query.offset}`;
  return found.length === query.limit ? found.map(({ id }) => id) : undefined;
}

async function pageOfAll(ctx: Ctx, query: ListQuery, { where, sortKey, isCrossed: crossed }: Plan): Promise<string[]> {
  const devices = sortKey === "d.name" ? Prisma.sql`JOIN "Device" d ON d.id = e."deviceId"` : Prisma.empty;
  const found = await ctx.db.prisma.$queryRaw<{ id: string }[]>`
    SELECT e.id FROM "Event" e ${devices} WHERE ${Prisma.join([...where], " AND ")}
    ORDER BY ${orderBy(query, crossed ? unindexed(sortKey) : sortKey)} LIMIT ${query.limit} OFFSET ${query.offset}`;
  return found.map(({ id }) => id);
}

interface Selection {
  readonly device: DeviceModel | undefined;
  readonly terms: readonly Term[];
}

async function conditions(ctx: Ctx, query: ListQuery, { device, terms }: Selection): Promise<Sql[]> {
  return [
    ...scopeWhere("e", await visibleIn(ctx, query.projectId)),
    ...touches("e", query), // spec: Query syntaxes: "start and end match any event intersecting the range, inclusive"
    ...(query.createdAfter === undefined ? [] : [Prisma.sql`e."createdAtNs" > ${query.createdAfter}`]),
    ...(query.updatedAfter === undefined ? [] : [Prisma.sql`e."updatedAtNs" > ${query.updatedAfter}`]),
    ...(device ? [Prisma.sql`e."deviceId" = ${device.id}`] : []),
    ...(query.eventId ? [Prisma.sql`e.id = ${query.eventId}`] : []),
    ...(query.eventTypeId ? [Prisma.sql`e."eventTypeId" = ${query.eventTypeId}`] : []),
    ...(terms.length === 0 ? [] : [eventWhere(searched, terms, query.queryFields)]),
  ];
}

const searched = { metadata: Prisma.sql`e.metadata`, properties: Prisma.sql`e.properties` };

const sortKeys = {
  id: "e.id",
  deviceId: 'e."deviceId"',
  "device.id": 'e."deviceId"',
  deviceName: "d.name",
  "device.name": "d.name",
  start: 'e."startNs"',
  createdAt: 'e."createdAtNs"',
  updatedAt: 'e."updatedAtNs"',
} as const;
type SortKey = (typeof sortKeys)[keyof typeof sortKeys];

/** All events of one device are alike in its id and name. */
function sortKeyOf({ sortBy = "createdAt" }: ListQuery, device: DeviceModel | undefined): SortKey {
  const sortKey = sortKeys[sortBy];
  return device && (sortKey === "d.name" || sortKey === 'e."deviceId"') ? "e.id" : sortKey;
}

/** Total: the id breaks ties. */
function orderBy({ sortOrder }: ListQuery, key: string): Sql {
  const direction = Prisma.raw(sortOrder);
  return Prisma.sql`${Prisma.raw(key)} ${direction}, e.id ${direction}`;
}

/** The same order, by an expression that no index has. */
function unindexed(sortKey: SortKey): string {
  return sortKey === "e.id" ? `${sortKey} || ''` : `${sortKey} + 0`;
}

/**
 * Whether a filter of time crosses the order. The planner takes the two for independent and walks the order's index until the
 * page is full, past all the rows before the first that matches, while in truth times go together. An expression in place of
 * the column leaves it the filter's index alone: all that matches is read and sorted, which is bounded by the filter.
 */
function isCrossed({ sortOrder, start, end, createdAfter, updatedAfter }: ListQuery, sortKey: SortKey): boolean {
  const crossing = {
    "e.id": [start, end, createdAfter, updatedAfter],
    'e."startNs"': [sortOrder === "asc" ? start : undefined, createdAfter, updatedAfter],
    'e."createdAtNs"': [start, end, updatedAfter],
    'e."updatedAtNs"': [start, end, createdAfter],
    'e."deviceId"': [],
    "d.name": [],
  };
  return crossing[sortKey].some((time) => time !== undefined);
}
