import type { api, CursorHeaders, Event, Input } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import { type CursorPage, closePage, openPage, selectBeyondCursor } from "../../calls/search/cursor-page.ts";
import { findPlaces, type Listed } from "../../calls/search/find-page.ts";
import { isFirstPage, placeByCreation } from "../../calls/search/first-page.ts";
import { eventWhere, type Narrowing } from "../../calls/search/jsonb-where.ts";
import { parseQuery, type Term } from "../../calls/search/terms.ts";
import type { Complete } from "../../core/complete.ts";
import { Prisma } from "../../db/generated/client.ts";
import type { DeviceModel } from "../../db/generated/models.ts";
import { type Batches, FEW, readInBatches } from "../../db/read-in-batches.ts";
import { newPoolReader } from "../../db/read-sql.ts";
import { sortByIds } from "../../db/sort-by-ids.ts";
import { splitAtStart, touches } from "../../db/span-sql.ts";
import { avoidIndex } from "../../db/text-sql.ts";
import { findEventType } from "../../organization/event-types/find-event-type.ts";
import { visibleIn } from "../../organization/projects/find-project.ts";
import { scopeWhere } from "../../organization/projects/scope-sql.ts";
import { selectDevice } from "../devices/find-device.ts";
import { selectEvents, selectOldestEvents, selectOldestOfDevice, toEventFromJoin } from "./event-rows.ts";

type ListQuery = Input<(typeof api.events)["list"]>;
type Sql = Prisma.Sql;

interface Answered {
  readonly output: Complete<Event>[] | Batches<Complete<Event>>;
  readonly headers: Complete<CursorHeaders>;
}

/** Finds first the ids of the page, from narrow rows that are sorted in memory, and then the page itself. */
export async function listEvents(ctx: Ctx, query: ListQuery): Promise<Answered> {
  const page = openPage(ctx, "events.list", query);
  const first = isFirstPage(ctx, query, ["deviceId", "queryFields"]) ? await readFirst(ctx, query, page) : undefined;
  if (first) return first;
  const device = query.deviceId ? { id: query.deviceId } : await selectDevice(ctx, query);
  if (query.eventTypeId) await findEventType(ctx, query.eventTypeId);
  const scope = scopeWhere("r", await visibleIn(ctx, query.projectId));
  const terms = parseQuery(query.query ?? "");
  const listed = toListed(query, { scope, device, terms, page });
  const found = await findPlaces(newPoolReader(ctx.db), [listed], { limit: page.take, offset: page.offset });
  if (found.length === 0) await selectDevice(ctx, query); // otherwise the events that were found prove that the device exists
  const { rows, headers } = closePage(ctx, page, found);
  const ids = rows.map(({ id }) => id);
  // So few events fit a batch even if they are of the largest size.
  const output = ids.length <= FEW ? await readEvents(ctx, ids) : readInBatches(ids, (some) => readEvents(ctx, some));
  return { output, headers };
}

/** Returns undefined if there are none. */
async function readFirst(ctx: Ctx, { deviceId }: ListQuery, page: CursorPage): Promise<Answered | undefined> {
  const first = { orgId: ctx.caller.orgId, limit: page.take };
  const found = deviceId
    ? await selectOldestOfDevice(ctx.db, { ...first, deviceId })
    : await selectOldestEvents(ctx.db, first);
  if (found.length === 0) return undefined;
  const { rows, headers } = closePage(ctx, page, found.map(placeByCreation));
  return { output: rows.map(toEventFromJoin), headers };
}

async function readEvents({ db }: Ctx, ids: readonly string[]): Promise<Complete<Event>[]> {
  return sortByIds(ids, await selectEvents(db, { ids })).map(toEventFromJoin);
}

interface Plan {
  /** The condition on the organization, and on its projects if the key is limited. */
  readonly scope: readonly Sql[];
  readonly device: Pick<DeviceModel, "id"> | undefined;
  readonly terms: readonly Term[];
  readonly page: CursorPage;
}

/** "start and end match any event intersecting the range, inclusive". spec: Query syntaxes */
function toListed(query: ListQuery, plan: Plan): Listed {
  const sortKey = sortKeyOf(query, plan.device);
  const isById = sortKey === "r.id";
  const rows = { from: tablesOf(sortKey), ranges: [], sortOrder: plan.page.order, isById };
  const keys = isById ? [] : [Prisma.raw(sortKey)];
  const ranges = splitAtStart("r", query);
  const isByStart = sortKey === 'r."startNs"';
  const within = isByStart ? [] : touches("r", query);
  const unindexed = (value: Sql) => avoidIndex(value, sortKey.endsWith('Ns"') ? "number" : "text");
  const matching = {
    ...rows,
    where: [
      ...conditions(query, plan, "pairs"),
      ...selectBeyondPlace(plan.page, sortKey, (value) => [unindexed(value)]),
    ],
    ranges,
    keys: [unindexed(Prisma.raw(sortKey))],
  };
  const onward = selectBeyondPlace(plan.page, sortKey, (value) => (isById ? [] : [value]));
  if (!isCrossed(query, plan, sortKey)) {
    const where = [...conditions(query, plan, "pairs"), ...onward, ...within];
    return { inOrder: { ...rows, where, ranges: isByStart ? ranges : [], keys }, filters: [], matching };
  }
  const [org, ...others] = conditions(query, plan, "trigrams");
  const inOrder = { ...rows, where: [org!, ...onward], ranges: isByStart ? ranges : [], keys };
  return { inOrder, filters: [...others, ...within], matching };
}

/** Returns the condition on events after the cursor, by the keys of an index or by others. */
function selectBeyondPlace(page: CursorPage, sortKey: SortKey, keysOf: (value: Sql) => readonly Sql[]): Sql[] {
  const { from, order } = page;
  if (!from) return [];
  const place = sortKey === "r.id" ? { ...from, sortValue: from.id } : from;
  const type = sortKey.endsWith('Ns"') ? "bigint" : "text";
  const columns = {
    sortValue: Prisma.raw(sortKey),
    type,
    id: Prisma.sql`r.id`,
    keysOf,
    isJoined: sortKey === "d.name",
  } as const;
  return selectBeyondCursor({ from: place, order }, columns);
}

/** Returns all conditions but the time, the organization first. */
function conditions(query: ListQuery, { scope, device, terms }: Plan, narrowing: Narrowing): Sql[] {
  const { createdAfter, updatedAfter, eventId, eventTypeId, queryFields } = query;
  return [
    ...scope,
    ...(createdAfter === undefined ? [] : [Prisma.sql`r."createdAtNs" > ${createdAfter}`]),
    ...(updatedAfter === undefined ? [] : [Prisma.sql`r."updatedAtNs" > ${updatedAfter}`]),
    ...(device ? [Prisma.sql`r."deviceId" = ${device.id}`] : []),
    ...(eventId ? [Prisma.sql`r.id = ${eventId}`] : []),
    ...(eventTypeId ? [Prisma.sql`r."eventTypeId" = ${eventTypeId}`] : []),
    ...(terms.length === 0 ? [] : [eventWhere(searched, terms, { queryFields, narrowing })]),
  ];
}

const searched = { metadata: Prisma.sql`r.metadata`, properties: Prisma.sql`r.properties` };

const sortKeys = {
  id: "r.id",
  deviceId: 'r."deviceId"',
  "device.id": 'r."deviceId"',
  deviceName: "d.name",
  "device.name": "d.name",
  start: 'r."startNs"',
  createdAt: 'r."createdAtNs"',
  updatedAt: 'r."updatedAtNs"',
} as const;
type SortKey = (typeof sortKeys)[keyof typeof sortKeys];

/** All events of one device have the same device id and name. */
function sortKeyOf({ sortBy = "createdAt" }: ListQuery, device: Plan["device"]): SortKey {
  const sortKey = sortKeys[sortBy];
  return device && (sortKey === "d.name" || sortKey === 'r."deviceId"') ? "r.id" : sortKey;
}

function tablesOf(sortKey: SortKey): Sql {
  const devices = sortKey === "d.name" ? `JOIN "Device" d ON d.id = r."deviceId"` : "";
  return Prisma.raw(`"Event" r ${devices}`);
}

/**
 * Says whether a filter of time or text is independent of the order. The planner assumes that it is, and would walk the order's index until
 * the page is full, past all rows before the first match, while in truth times of events go together.
 */
function isCrossed({ start, end, createdAfter, updatedAfter }: ListQuery, { terms }: Plan, sortKey: SortKey): boolean {
  const crossing = {
    "r.id": [start, end, createdAfter, updatedAfter],
    'r."startNs"': [createdAfter, updatedAfter],
    'r."createdAtNs"': [start, end, updatedAfter],
    'r."updatedAtNs"': [start, end, createdAfter],
    'r."deviceId"': [],
    "d.name": [],
  };
  const hasText = sortKey !== "d.name" && terms.some((term) => term.kind === "contains");
  return hasText || crossing[sortKey].some((time) => time !== undefined);
}
