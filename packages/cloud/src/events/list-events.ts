import type { api, Event, Input } from "@downlink/protocol";
import type { Ctx } from "../context.ts";
import { Prisma } from "../db/generated/client.ts";
import type { DeviceModel } from "../db/generated/models.ts";
import { type Batches, inBatches } from "../db/in-batches.ts";
import { inOrderOf } from "../db/in-order-of.ts";
import { touches } from "../db/span-sql.ts";
import { selectDevice } from "../devices/find-device.ts";
import { visibleIn } from "../projects/find-project.ts";
import { scopeWhere } from "../projects/scope-sql.ts";
import { eventWhere, type Narrowing } from "../search/jsonb-where.ts";
import { parseQuery, type Term } from "../search/terms.ts";
import { eventColumns, toEvent } from "./event-rows.ts";

type ListQuery = Input<(typeof api.events)["list"]>;
type Sql = Prisma.Sql;

/** How many rows of the order are looked at before the filter's own index is asked: about 20 ms; texts take longer to read. */
const PREFIX_ROWS = 20_000;
const PREFIX_ROWS_OF_TEXT = 5000;

interface Plan {
  readonly scope: readonly Sql[];
  readonly device: DeviceModel | undefined;
  readonly terms: readonly Term[];
  readonly sortKey: SortKey;
  readonly prefixRows: number;
  /** No index serves filter and order at once. */
  readonly isCrossed: boolean;
}

/** The ids of the page first, from narrow rows that sort in memory; then the page itself. */
export async function listEvents(ctx: Ctx, query: ListQuery): Promise<Batches<Event>> {
  const device = await selectDevice(ctx, query);
  const scope = scopeWhere("e", await visibleIn(ctx, query.projectId));
  const terms = parseQuery(query.query ?? "");
  const sortKey = sortKeyOf(query, device);
  const hasText = terms.some((term) => term.kind === "contains");
  const crossed = isCrossed(query, sortKey) || (hasText && sortKey !== "d.name");
  const plan = {
    scope,
    device,
    terms,
    sortKey,
    prefixRows: hasText ? PREFIX_ROWS_OF_TEXT : PREFIX_ROWS,
    isCrossed: crossed,
  };
  const ids = (await pageOfPrefix(ctx, query, plan)) ?? (await pageOfAll(ctx, query, plan));
  return inBatches(ids, (some) => readEvents(ctx, some));
}

async function readEvents({ db }: Ctx, ids: readonly string[]): Promise<Event[]> {
  const rows = await db.prisma.event.findMany({ where: { id: { in: [...ids] } }, select: eventColumns });
  return inOrderOf(ids, rows).map(toEvent);
}

/** What matches often fills the page from the first rows of the order; undefined where it does not. */
async function pageOfPrefix(ctx: Ctx, query: ListQuery, plan: Plan): Promise<string[] | undefined> {
  if (!plan.isCrossed) return undefined;
  const order = orderBy(query, plan.sortKey);
  const where = conditions(query, plan, "trigrams");
  const found = await ctx.db.prisma.$queryRaw<{ id: string }[]>`
    SELECT e.id FROM (
      SELECT e.* FROM "Event" e WHERE e."orgId" = ${ctx.caller.orgId} ORDER BY ${order} LIMIT ${plan.prefixRows}
    ) e WHERE ${Prisma.join(where, " AND ")} ORDER BY ${order} LIMIT ${query.limit} OFFSET ${query.offset}`;
  return found.length === query.limit ? found.map(({ id }) => id) : undefined;
}

async function pageOfAll(ctx: Ctx, query: ListQuery, plan: Plan): Promise<string[]> {
  const { sortKey } = plan;
  const devices = sortKey === "d.name" ? Prisma.sql`JOIN "Device" d ON d.id = e."deviceId"` : Prisma.empty;
  const found = await ctx.db.prisma.$queryRaw<{ id: string }[]>`
    SELECT e.id FROM "Event" e ${devices}
    WHERE ${Prisma.join(conditions(query, plan, "pairs"), " AND ")}
    ORDER BY ${orderBy(query, plan.isCrossed ? unindexed(sortKey) : sortKey)} LIMIT ${query.limit} OFFSET ${query.offset}`;
  return found.map(({ id }) => id);
}

function conditions(query: ListQuery, { scope, device, terms }: Plan, narrowing: Narrowing): Sql[] {
  const { createdAfter, updatedAfter, eventId, eventTypeId, queryFields } = query;
  return [
    ...scope,
    ...touches("e", query), // spec: Query syntaxes: "start and end match any event intersecting the range, inclusive"
    ...(createdAfter === undefined ? [] : [Prisma.sql`e."createdAtNs" > ${createdAfter}`]),
    ...(updatedAfter === undefined ? [] : [Prisma.sql`e."updatedAtNs" > ${updatedAfter}`]),
    ...(device ? [Prisma.sql`e."deviceId" = ${device.id}`] : []),
    ...(eventId ? [Prisma.sql`e.id = ${eventId}`] : []),
    ...(eventTypeId ? [Prisma.sql`e."eventTypeId" = ${eventTypeId}`] : []),
    ...(terms.length === 0 ? [] : [eventWhere(searched, terms, { queryFields, narrowing })]),
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
  return sortKey.endsWith('Ns"') ? `${sortKey} + 0` : `${sortKey} || ''`;
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
