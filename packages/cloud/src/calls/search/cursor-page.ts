// A cursor (see also `db/cursor.ts`) is a place in a list, the last row's sort value and id, and not a snapshot. The signature covers the
// list, its filters, its order and the caller's projects as well, so that the text need not contain them.

import { type CursorHeaders, NEXT_CURSOR_HEADER, PREVIOUS_CURSOR_HEADER, type SortOrder } from "@downlink/protocol";
import type { Complete } from "../../core/complete.ts";
import { invalid } from "../../core/errors.ts";
import { type Cursor, type CursorBinding, readCursor, writeCursor } from "../../db/cursor.ts";
import { Prisma } from "../../db/generated/client.ts";
import type { Ctx } from "../context/context.ts";

/** A page of a list that is ordered by one value and the id, as it is requested from the database. */
export interface CursorPage {
  readonly binding: CursorBinding;
  readonly from: Cursor | undefined;
  /** The order of the query's rows, which for a page before a cursor is the reverse of the list's. */
  readonly order: SortOrder;
  readonly limit: number;
  /** One row more than the page has, to know whether it is the last page. */
  readonly take: number;
  readonly offset: number;
}

/** A row's place in the list. */
export interface Place {
  readonly id: string;
  /** The value that the list sorts by, as text; null if the row has none. */
  readonly sortValue: string | null;
}

interface PageQuery {
  readonly limit: number;
  readonly offset?: number;
  readonly cursor?: string | undefined;
  readonly sortOrder?: SortOrder;
}

/**
 * `query` is everything that decides which rows the list has and in which order, without the paging itself; a default `sortBy` must be
 * filled in. Throws 400 for a cursor of another query, caller's scope or `list`, and for one with an offset.
 */
export function openPage<Query extends PageQuery>(
  ctx: Pick<Ctx, "caller" | "signer">,
  list: string,
  query: Query,
): CursorPage {
  const { limit, offset = 0, cursor, sortOrder = "asc" } = query;
  if (cursor !== undefined && offset !== 0) invalid("offset", "must be 0 where a cursor is given");
  const binding = bindingOf(ctx, list, query);
  const from = cursor === undefined ? undefined : readCursor(ctx.signer, binding, cursor);
  const order = from?.direction === "backward" ? reverse(sortOrder) : sortOrder;
  return { binding, from, order, limit, take: limit === 0 ? 0 : limit + 1, offset };
}

/** Where a list goes on, and in which order its rows are read. */
export type Onward = Pick<CursorPage, "from" | "order">;

/** The columns, or expressions, that the list sorts by. */
export interface SortColumns {
  readonly sortValue: Prisma.Sql;
  readonly type: "bigint" | "integer" | "jsonb" | "text";
  readonly id: Prisma.Sql;
  /** The expressions of a value that the list sorts by instead of the value itself, in the same order. */
  readonly keysOf?: (value: Prisma.Sql) => readonly Prisma.Sql[];
  /** The value and the id are in two tables. */
  readonly isJoined?: boolean;
}

/** The conditions for rows after the cursor; none if there is no cursor. */
export function selectBeyondCursor({ from, order }: Onward, columns: SortColumns): Prisma.Sql[] {
  if (!from) return [];
  const { sortValue, type, id, keysOf = (value) => [value] } = columns;
  const place = Prisma.sql`${from.sortValue}::text::${Prisma.raw(type)}`;
  const row = Prisma.join([...keysOf(sortValue), id]);
  const cursor = Prisma.join([...keysOf(place), Prisma.sql`${from.id}::text`]);
  const beyond = Prisma.sql`(${row}) ${isAfter(order)} (${cursor})`;
  // An index of one table serves this condition, as it does not for the comparison of columns of two.
  return columns.isJoined ? [beyond, Prisma.sql`${sortValue} ${isAfter(order)}= ${place}`] : [beyond];
}

/** Does what {@link selectBeyondCursor} does, where rows without a value come last in the list's order. */
export function selectBeyondNullable(onward: Onward, columns: SortColumns): Prisma.Sql[] {
  const { from, order } = onward;
  if (!from) return [];
  const { sortValue, id } = columns;
  const isBackward = from.direction === "backward";
  const isEmpty = Prisma.sql`${sortValue} IS NULL`;
  if (from.sortValue !== null) {
    const [beyond] = selectBeyondCursor(onward, columns);
    return [isBackward ? beyond! : Prisma.sql`(${beyond} OR ${isEmpty})`];
  }
  const beyond = Prisma.sql`${id} ${isAfter(order)} ${from.id}::text`;
  return [isBackward ? Prisma.sql`(${sortValue} IS NOT NULL OR ${beyond})` : Prisma.sql`${isEmpty} AND ${beyond}`];
}

function isAfter(order: SortOrder): Prisma.Sql {
  return Prisma.raw(order === "asc" ? ">" : "<");
}

/** The order of the rows of {@link selectBeyondNullable}. */
export function nullableOrder(
  { from, order }: Onward,
  { sortValue, id }: Pick<SortColumns, "sortValue" | "id">,
): Prisma.Sql {
  const direction = Prisma.raw(order);
  const nulls = Prisma.raw(from?.direction === "backward" ? "NULLS FIRST" : "NULLS LAST");
  return Prisma.sql`${sortValue} ${direction} ${nulls}, ${id} ${direction}`;
}

/** The order of the rows. It is total, because the id breaks ties. */
export function pageOrder({ order }: Onward, { sortValue, id }: Pick<SortColumns, "sortValue" | "id">): Prisma.Sql {
  const direction = Prisma.raw(order);
  return Prisma.sql`${sortValue} ${direction}, ${id} ${direction}`;
}

/** Returns the page's rows in the list's order, of those that the database gave, and the cursors to both sides. */
export function closePage<Row extends Place>(
  { signer }: Pick<Ctx, "signer">,
  page: CursorPage,
  found: readonly Row[],
): { rows: Row[]; headers: Complete<CursorHeaders> } {
  const isBackward = page.from?.direction === "backward";
  const hasMore = found.length > page.limit;
  const rows = found.slice(0, page.limit);
  if (isBackward) rows.reverse();
  const hasNext = isBackward || hasMore;
  const hasPrevious = isBackward ? hasMore : page.from !== undefined || page.offset > 0;
  const cursorAt = (place: Place | undefined, direction: Cursor["direction"]) =>
    place && writeCursor(signer, page.binding, { direction, sortValue: place.sortValue, id: place.id });
  return {
    rows,
    headers: {
      [NEXT_CURSOR_HEADER]: hasNext ? cursorAt(rows.at(-1), "forward") : undefined,
      [PREVIOUS_CURSOR_HEADER]: hasPrevious ? cursorAt(rows[0], "backward") : undefined,
    },
  };
}

/** The parameters that may differ between the pages of one list. */
const UNBOUND = new Set(["limit", "offset", "cursor", "include"]);

function bindingOf({ caller }: Pick<Ctx, "caller">, list: string, query: object): CursorBinding {
  const bound = Object.entries(query).filter(([name, value]) => !UNBOUND.has(name) && value !== undefined);
  return [list, caller.orgId, [...caller.projectIds].sort(), bound.sort(([one], [other]) => (one < other ? -1 : 1))];
}

function reverse(order: SortOrder): SortOrder {
  return order === "asc" ? "desc" : "asc";
}
