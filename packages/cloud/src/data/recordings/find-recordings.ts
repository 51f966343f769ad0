import type { Ctx } from "../../calls/context/context.ts";
import { type Onward, selectBeyondCursor, selectBeyondNullable } from "../../calls/search/cursor-page.ts";
import type { Listed } from "../../calls/search/find-page.ts";
import type { Cursor } from "../../db/cursor.ts";
import { Prisma } from "../../db/generated/client.ts";
import { columnsOfRecording, reachesBySpans, splitTouching, touchesByBounds } from "../../db/span-sql.ts";
import { selectDevice } from "../../fleet/devices/find-device.ts";
import { type ListQuery, type RecordingFilter, recordingFilters } from "./recording-filters.ts";
import { type OrderedPart, orderRecordings, type Together } from "./recording-order.ts";

/** Plans the lists, one after another, of which a query shows a page. `more` are further filters. */
export async function planList(ctx: Ctx, query: ListQuery, more: readonly RecordingFilter[] = []): Promise<Listed[]> {
  return planListOf(ctx, query, { device: await selectDevice(ctx, query), more });
}

interface Chosen {
  /** The device that the query selects. */
  readonly device: { readonly id: string } | undefined;
  readonly more?: readonly RecordingFilter[];
  /** Where the list goes on; absent: all of it. */
  readonly onward?: Onward;
}

export async function planListOf(ctx: Ctx, query: ListQuery, chosen: Chosen): Promise<Listed[]> {
  const { device, more = [], onward = { from: undefined, order: query.sortOrder } } = chosen;
  const filters = [...(await recordingFilters(ctx, query, device)), ...more];
  const parts = orderRecordings(query, device !== undefined);
  const together = parts[0]!.together;
  const left = chooseOnward(parts, onward);
  return left.map((part, number) =>
    toListed(ctx, query, { part, filters, onward, together: number < left.length - 1 ? together : undefined }),
  );
}

interface Plan {
  readonly part: OrderedPart;
  readonly filters: readonly RecordingFilter[];
  readonly onward: Onward;
  /** The order of this part and those after it, if any follows. */
  readonly together: Together | undefined;
}

/** Returns the parts that are not wholly before the cursor, in the order in which they are read. */
function chooseOnward(parts: readonly OrderedPart[], { from }: Onward): readonly OrderedPart[] {
  const onward = from?.direction === "backward" ? parts.toReversed() : parts;
  if (!from || parts.length === 1) return onward;
  return onward.slice(onward.findIndex((part) => holdsPlace(part, from)));
}

/** Says whether a place may be in a part: only recordings that are ordered by their ids alone have no value there. */
function holdsPlace({ isById }: OrderedPart, from: Cursor): boolean {
  return isById === (from.sortValue === null);
}

/** Returns the condition on the recordings of a part that are after the cursor, by the keys of its index or by others. */
function selectBeyondPlace({ part, onward: { from, order } }: Plan, keysOf: OrderedPart["keysOf"]): Prisma.Sql[] {
  if (!from || !holdsPlace(part, from)) return [];
  const place = part.isById ? { ...from, sortValue: from.id } : from;
  const columns = {
    sortValue: part.value,
    type: part.type,
    id: Prisma.sql`r.id`,
    keysOf,
    isJoined: part.owner === "d",
  };
  return selectBeyondCursor({ from: place, order }, columns);
}

/** "recordings with data on or after start and on or before end", inclusive. spec: Recordings/List */
function toListed(ctx: Ctx, query: ListQuery, plan: Plan): Listed {
  const { part, filters, onward, together } = plan;
  const { sortName, from, owner, where, value, isById, keysOf, unindexedKeysOf, coversTime } = part;
  const sortOrder = onward.order;
  const isInOrg = (alias: string) => Prisma.sql`${Prisma.raw(alias)}."orgId" = ${ctx.caller.orgId}`;
  const isByTime = sortName === "start" || sortName === "end";
  const leading = filters.find(({ orderedBy = [] }) => orderedBy.some((name) => name === sortName));
  const others = filters.filter((filter) => filter !== leading);
  const bySpans = reachesBySpans(columnsOfRecording("r"), query);
  const crossing = others.map((filter) => filter.where);
  const lead = leading ? [leading.where] : [];
  const matches = [isInOrg("r"), ...lead, ...others.map((filter) => filter.narrowed ?? filter.where)];
  const matching = {
    from,
    ranges: splitTouching("r", query, "start"),
    keys: unindexedKeysOf(value),
    isById,
    sortOrder,
  };
  return {
    inOrder: {
      from,
      where: [isInOrg(owner), ...where, ...lead, ...selectBeyondPlace(plan, keysOf)],
      ranges: isByTime ? splitTouching("r", query, sortName) : [],
      keys: keysOf(value),
      sortOrder,
    },
    filters: isByTime ? crossing : [...touchesByBounds("r", query), ...bySpans, ...crossing],
    isCovered: coversTime && crossing.length === 0,
    matching: { ...matching, where: [...where, ...matches, ...selectBeyondPlace(plan, unindexedKeysOf)] },
    readsPerMatch: Math.max(1, ...filters.map(({ readsPerMatch = 1 }) => readsPerMatch)),
    together: together && {
      ...matching,
      isById: false,
      from: together.from,
      where: [...matches, ...selectBeyondTogether(together, onward)],
      keys: [lastWithout(together.value, query.sortOrder), together.value],
    },
  };
}

function selectBeyondTogether({ value: sortValue, type }: Together, onward: Onward): Prisma.Sql[] {
  return selectBeyondNullable(onward, { sortValue, type, id: Prisma.sql`r.id` });
}

/** A sort key that puts rows without a value last, in either order. */
function lastWithout(value: Prisma.Sql, sortOrder: "asc" | "desc"): Prisma.Sql {
  return sortOrder === "asc" ? Prisma.sql`${value} IS NULL` : Prisma.sql`${value} IS NOT NULL`;
}
