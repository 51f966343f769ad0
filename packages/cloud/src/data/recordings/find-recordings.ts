import type { Ctx } from "../../calls/context/context.ts";
import type { Listed } from "../../calls/search/find-page.ts";
import { Prisma } from "../../db/generated/client.ts";
import { splitTouching, touchesByBounds } from "../../db/span-sql.ts";
import { selectDevice } from "../../fleet/devices/find-device.ts";
import { type ListQuery, type RecordingFilter, recordingFilters } from "./recording-filters.ts";
import { type OrderedPart, orderRecordings } from "./recording-order.ts";

/** Plans the lists, one after another, of which a query shows a page. `more` are further filters. */
export async function planList(ctx: Ctx, query: ListQuery, more: readonly RecordingFilter[] = []): Promise<Listed[]> {
  return planListOf(ctx, query, { device: await selectDevice(ctx, query), more });
}

interface Chosen {
  /** The device that the query selects. */
  readonly device: { readonly id: string } | undefined;
  readonly more?: readonly RecordingFilter[];
}

export async function planListOf(ctx: Ctx, query: ListQuery, { device, more = [] }: Chosen): Promise<Listed[]> {
  const filters = [...(await recordingFilters(ctx, query, device)), ...more];
  return orderRecordings(query, device !== undefined).map((part) => toListed(ctx, query, { part, filters }));
}

interface Plan {
  readonly part: OrderedPart;
  readonly filters: readonly RecordingFilter[];
}

/** "recordings with data on or after start and on or before end", inclusive. spec: Recordings/List */
function toListed(ctx: Ctx, query: ListQuery, { part, filters }: Plan): Listed {
  const { sortName, from, owner, where, keys, unindexedKeys, coversTime, together } = part;
  const { sortOrder } = query;
  const isInOrg = (alias: string) => Prisma.sql`${Prisma.raw(alias)}."orgId" = ${ctx.caller.orgId}`;
  const isByTime = sortName === "start" || sortName === "end";
  const leading = filters.find(({ orderedBy = [] }) => orderedBy.some((name) => name === sortName));
  const others = filters.filter((filter) => filter !== leading);
  const crossing = others.map((filter) => filter.where);
  const lead = leading ? [leading.where] : [];
  const matches = [isInOrg("r"), ...lead, ...others.map((filter) => filter.narrowed ?? filter.where)];
  const matching = { from, ranges: splitTouching("r", query, "start"), keys: unindexedKeys, sortOrder };
  return {
    inOrder: {
      from,
      where: [isInOrg(owner), ...where, ...lead],
      ranges: isByTime ? splitTouching("r", query, sortName) : [],
      keys,
      sortOrder,
    },
    filters: isByTime ? crossing : [...touchesByBounds("r", query), ...crossing],
    isCovered: coversTime && crossing.length === 0,
    matching: { ...matching, where: [...where, ...matches] },
    readsPerMatch: Math.max(1, ...filters.map(({ readsPerMatch = 1 }) => readsPerMatch)),
    together: together && {
      ...matching,
      from: together.from,
      where: matches,
      keys: [lastWithout(together.value, sortOrder), together.value],
    },
  };
}

/** A sort key that puts rows without a value last, in either order. */
function lastWithout(value: Prisma.Sql, sortOrder: "asc" | "desc"): Prisma.Sql {
  return sortOrder === "asc" ? Prisma.sql`${value} IS NULL` : Prisma.sql`${value} IS NOT NULL`;
}
