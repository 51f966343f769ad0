// Large lists find the ids of a page first and read the rows after that, because narrow rows sort in memory. If a filter is independent of
// the order, either the first rows of the order are read and checked, or all matching rows are read and sorted, or the order is walked;
// each function below says when.
//
// Covering indexes: the columns that a list filters and sorts by stand behind the key of the index that it reads most of, so that a window
// of 166,000 events costs 25 ms and not 300. Values of a few bytes are worth that, texts are not.
//
// Walking an order in its index: if more than a sixth of the rows match, the others are skipped there at 60 ns a row, because Postgres
// compares key columns before it reads the row. So these are key columns and not `INCLUDE`; for that reason the order by path, whose index
// holds only 200 characters of it, needs no more. With the half of 1,000,000 recordings that an order has last, a page takes 30 ms instead
// of 100 to 280; a report's write-ahead log grows by a hundredth.
//
// Lists are composed of SQL fragments, and not by Kysely, which writes the statements whose shape is fixed (`db/prepared.ts`): nearly all
// of a list's text is conditions on ranges, jsonpath, collations and expressions that keep the planner away from an index, for which Kysely
// has its own `sql` fragments and no types.

import { Prisma } from "../../db/generated/client.ts";
import type { ReadSql } from "../../db/read-sql.ts";
import type { Place } from "./cursor-page.ts";

type Sql = Prisma.Sql;

/** Rows of a list, in an order. */
export interface OrderedRows {
  /** A table `r`, or a join with one. */
  readonly from: Sql;
  readonly where: readonly Sql[];
  /** Disjoint parts of the rows, each of which is read by itself; none: there is only one. */
  readonly ranges: readonly Sql[];
  /** Expressions over `from` to sort by; the id breaks ties. The last one is the value that the rows are sorted by. */
  readonly keys: readonly Sql[];
  /** The rows are sorted by their ids alone, of which the key is another form. */
  readonly isById?: boolean;
  readonly sortOrder: "asc" | "desc";
}

/** The rows that a list shows, in two forms with the same meaning. */
export interface Listed {
  /** All rows in an order that an index has, */
  readonly inOrder: OrderedRows;
  /** and the conditions on `r` that are not in its key. */
  readonly filters: readonly Sql[];
  /** The columns of these conditions are in the index behind its key: rows that do not match are skipped there without being read. */
  readonly isCovered?: boolean;
  /** Only the matching rows, ordered by expressions that no index has, so that only the indexes of the filters remain. */
  readonly matching: OrderedRows;
  /** How many rows are read there for each matching one; absent: 1. */
  readonly readsPerMatch?: number;
  /** Set for the first of several lists: what matches in any of them, in the order of all. */
  readonly together?: OrderedRows | undefined;
}

interface Page {
  readonly limit: number;
  readonly offset: number;
}

interface Sought extends Page {
  /** The number of rows of the order, as the planner expects. */
  readonly all: number;
}

/** Finds the ids of a page of lists that follow one another as one. */
export async function findPage(read: ReadSql, lists: readonly Listed[], page: Page): Promise<string[]> {
  return (await findPlaces(read, lists, page)).map(({ id }) => id);
}

/** Does what {@link findPage} does, and returns the values as well by which the rows were sorted. */
export async function findPlaces(read: ReadSql, lists: readonly Listed[], page: Page): Promise<Place[]> {
  const [list, ...others] = lists;
  if (!list || page.limit === 0) return [];
  const sought = { ...page, all: list.filters.length === 0 ? 0 : await expectRows(read, list.inOrder) };
  const little = await findLittle(read, list, sought);
  if (little) return read(pageOf(little, page));
  const places = await findPageOf(read, list, sought);
  if (places.length === page.limit || others.length === 0) return places;
  const offset = places.length > 0 || page.offset === 0 ? 0 : page.offset - (await countRows(read, list));
  const rest = await findPlaces(read, others, { limit: page.limit - places.length, offset });
  const found = new Set(places.map(({ id }) => id));
  // A row changed from one list to the other between the queries: without it the page would look like the last one.
  if (rest.some(({ id }) => found.has(id))) return findPlaces(read, lists, page);
  return [...places, ...rest];
}

/** Returns what matches in all of several lists, if reading it is no more work. */
async function findLittle(read: ReadSql, list: Listed, sought: Sought): Promise<OrderedRows | undefined> {
  const { together, filters, readsPerMatch = 1 } = list;
  if (!together || filters.length === 0) return undefined;
  return (await expectRows(read, together)) * readsPerMatch < prefixOf(sought) ? together : undefined;
}

/**
 * Finds the ids of a page. No index serves every filter in every order, and the planner, which assumes that the two are independent, walks
 * an order past all rows before the first match. So if many rows match they are taken from the first rows of the order, and if these do not
 * fill the page, all matching rows are read and sorted: both are bounded. If so many match that sorting takes longer than skipping the
 * others, the order is walked to the end of the page.
 */
async function findPageOf(read: ReadSql, list: Listed, page: Sought): Promise<Place[]> {
  if (list.filters.length === 0) return read(pageOf(list.inOrder, page));
  const count = await choosePrefix(read, list, page);
  if (count === Number.POSITIVE_INFINITY) return read(pageOf(walkRows(list), page));
  const places = count === 0 ? [] : await read<Place>(pageOfPrefix(list, count, page));
  return places.length === page.limit ? places : read(pageOf(list.matching, page));
}

/** Reading and sorting one row takes as long as skipping this many in an index. */
const PASSED_PER_READ = 6;

/**
 * Returns how many rows of the order to read first; 0 if reading all that matches is no more work. The planner's estimate may be wrong: it
 * only decides what is tried first.
 */
async function choosePrefix(read: ReadSql, list: Listed, sought: Sought): Promise<number> {
  const matching = await expectRows(read, list.matching);
  if (list.isCovered && matching * PASSED_PER_READ > sought.all) return Number.POSITIVE_INFINITY;
  const prefix = prefixOf(sought);
  return matching * (list.readsPerMatch ?? 1) < prefix ? 0 : prefix;
}

/**
 * Reading the order and reading the matches take the same number of rows at the square root of wanted times all rows; twice as many of the
 * order are read, because matches are not spread evenly.
 */
function prefixOf({ all, limit, offset }: Sought): number {
  return 2 * Math.ceil(Math.sqrt((limit + offset) * all));
}

async function expectRows(read: ReadSql, rows: OrderedRows): Promise<number> {
  const [explained] = await read<{ "QUERY PLAN": [{ Plan: { "Plan Rows": number } }] }>(Prisma.sql`
    EXPLAIN (FORMAT JSON) ${matchesOf(rows)}`);
  return explained!["QUERY PLAN"][0].Plan["Plan Rows"];
}

async function countRows(read: ReadSql, { matching }: Listed): Promise<number> {
  const [counted] = await read<{ count: bigint }>(Prisma.sql`
    SELECT count(*) FROM (${matchesOf(matching)}) AS matching`);
  return Number(counted!.count);
}

/** Returns how many rows several lists have in total, without a limit. */
export async function countMatches(read: ReadSql, lists: readonly Listed[]): Promise<number> {
  let count = 0;
  for (const list of lists) count += await countRows(read, list);
  return count;
}

function pageOf(rows: OrderedRows, { limit, offset }: Page): Sql {
  return Prisma.sql`
    SELECT ${placeOf(rows)} FROM (${firstRows(rows, limit + offset, Prisma.sql`r.id`)}) AS r
    ORDER BY ${orderOf(rows)} LIMIT ${limit} OFFSET ${offset}`;
}

function walkRows({ inOrder, filters }: Listed): OrderedRows {
  return { ...inOrder, where: [...inOrder.where, ...filters] };
}

function pageOfPrefix({ inOrder, filters }: Listed, count: number, { limit, offset }: Page): Sql {
  const order = orderOf(inOrder);
  const prefix = Prisma.sql`
    SELECT * FROM (${firstRows(inOrder, count, Prisma.sql`r.*`)}) AS r ORDER BY ${order} LIMIT ${count}`;
  return Prisma.sql`
    SELECT ${placeOf(inOrder)} FROM (${prefix}) AS r WHERE ${allOf(filters)} ORDER BY ${order} LIMIT ${limit} OFFSET ${offset}`;
}

function placeOf({ keys, isById }: OrderedRows): Sql {
  const value = isById || keys.length === 0 ? Prisma.sql`NULL` : keyColumn(keys.length - 1);
  return Prisma.sql`id, ${value}::text AS "sortValue"`;
}

/** Reads each range with the keys as columns: the planner merges ranges that it knows to be sorted. */
function firstRows(rows: OrderedRows, count: number, columns: Sql): Sql {
  const keys = rows.keys.map((key, index) => Prisma.sql`${key} AS ${keyColumn(index)}`);
  const order = toOrderBy([...rows.keys, Prisma.sql`r.id`], rows.sortOrder);
  return selectEachRange(
    rows,
    (where) => Prisma.sql`
      (SELECT ${Prisma.join([columns, ...keys])} FROM ${rows.from} WHERE ${where} ORDER BY ${order} LIMIT ${count})`,
  );
}

function matchesOf(rows: OrderedRows): Sql {
  return selectMatches(rows, Prisma.empty);
}

/** Selects columns of all matching rows, in no order. */
export function selectMatches(rows: OrderedRows, columns: Sql): Sql {
  return selectEachRange(rows, (where) => Prisma.sql`SELECT ${columns} FROM ${rows.from} WHERE ${where}`);
}

function selectEachRange({ where, ranges }: OrderedRows, select: (where: Sql) => Sql): Sql {
  if (ranges.length === 0) return select(allOf(where));
  return Prisma.join(
    ranges.map((range) => select(allOf([...where, range]))),
    " UNION ALL ",
  );
}

function orderOf({ keys, sortOrder }: OrderedRows): Sql {
  return toOrderBy([...keys.map((_, index) => keyColumn(index)), Prisma.sql`id`], sortOrder);
}

function keyColumn(index: number): Sql {
  return Prisma.raw(`key${index}`);
}

function toOrderBy(expressions: readonly Sql[], sortOrder: "asc" | "desc"): Sql {
  return Prisma.join(expressions.map((expression) => Prisma.sql`${expression} ${Prisma.raw(sortOrder)}`));
}

function allOf(conditions: readonly Sql[]): Sql {
  return Prisma.join([...conditions], " AND ");
}
