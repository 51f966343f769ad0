import { Prisma, type PrismaClient } from "../db/generated/client.ts";

type Sql = Prisma.Sql;
type Database = Pick<PrismaClient, "$queryRaw">;

/** Rows of a list, in an order. */
export interface OrderedRows {
  /** A table `r`, or a join with one. */
  readonly from: Sql;
  readonly where: readonly Sql[];
  /** Disjoint parts of the rows, of which each is read by itself; none: there is but one. */
  readonly ranges: readonly Sql[];
  /** Expressions of what is in `from`; the id breaks ties. */
  readonly keys: readonly Sql[];
  readonly sortOrder: "asc" | "desc";
}

/** The rows that a list shows, in two ways that mean the same. */
export interface Listed {
  /** All the rows of an order that an index gives, */
  readonly inOrder: OrderedRows;
  /** and the conditions on `r` that the index does not have. */
  readonly filters: readonly Sql[];
  /** Only what matches, ordered by expressions that no index has: what is left are the indexes of the filters. */
  readonly matching: OrderedRows;
}

interface Page {
  readonly limit: number;
  readonly offset: number;
}

/** The ids of a page of lists that follow one another as one. */
export async function findPage(prisma: Database, lists: readonly Listed[], page: Page): Promise<string[]> {
  const [list, ...others] = lists;
  if (!list || page.limit === 0) return [];
  const ids = await findPageOf(prisma, list, page);
  if (ids.length === page.limit || others.length === 0) return ids;
  const offset = ids.length > 0 || page.offset === 0 ? 0 : page.offset - (await countRows(prisma, list));
  const rest = await findPage(prisma, others, { limit: page.limit - ids.length, offset });
  return [...new Set([...ids, ...rest])]; // a row may have changed from the one to the other between the queries
}

/**
 * The ids of a page. No index serves every filter in every order, and the planner, which takes the two for independent, walks
 * an order past all rows before the first that matches. So what matches often is taken from the first rows of the order, and
 * where they do not fill the page, all that matches is read and sorted: either is bounded.
 */
async function findPageOf(prisma: Database, list: Listed, page: Page): Promise<string[]> {
  const idsOf = async (query: Sql) => (await prisma.$queryRaw<{ id: string }[]>(query)).map(({ id }) => id);
  if (list.filters.length === 0) return idsOf(pageOf(list.inOrder, page));
  const count = await choosePrefix(prisma, list, page);
  const ids = count === 0 ? [] : await idsOf(pageOfPrefix(list, count, page));
  return ids.length === page.limit ? ids : idsOf(pageOf(list.matching, page));
}

/**
 * How many rows of the order to look at first; 0 where it is no more work to read all that matches. Either way reads as
 * many rows where the square root of wanted times all rows match; twice as many are looked at, since matches are not spread evenly.
 * What the planner expects may be wrong: it decides what is tried first, and nothing else.
 */
async function choosePrefix(prisma: Database, { inOrder, matching }: Listed, page: Page): Promise<number> {
  const all = await expectRows(prisma, inOrder);
  const prefix = 2 * Math.ceil(Math.sqrt((page.limit + page.offset) * all));
  return (await expectRows(prisma, matching)) < prefix ? 0 : prefix;
}

async function expectRows(prisma: Database, rows: OrderedRows): Promise<number> {
  const [explained] = await prisma.$queryRaw<{ "QUERY PLAN": [{ Plan: { "Plan Rows": number } }] }[]>`
    EXPLAIN (FORMAT JSON) ${matchesOf(rows)}`;
  return explained!["QUERY PLAN"][0].Plan["Plan Rows"];
}

async function countRows(prisma: Database, { matching }: Listed): Promise<number> {
  const [counted] = await prisma.$queryRaw<{ count: bigint }[]>`
    SELECT count(*) FROM (${matchesOf(matching)}) AS matching`;
  return Number(counted!.count);
}

function pageOf(rows: OrderedRows, { limit, offset }: Page): Sql {
  return Prisma.sql`
    SELECT id FROM (${firstRows(rows, limit + offset, Prisma.sql`r.id`)}) AS r
    ORDER BY ${orderOf(rows)} LIMIT ${limit} OFFSET ${offset}`;
}

function pageOfPrefix({ inOrder, filters }: Listed, count: number, { limit, offset }: Page): Sql {
  const order = orderOf(inOrder);
  const prefix = Prisma.sql`
    SELECT * FROM (${firstRows(inOrder, count, Prisma.sql`r.*`)}) AS r ORDER BY ${order} LIMIT ${count}`;
  return Prisma.sql`
    SELECT id FROM (${prefix}) AS r WHERE ${allOf(filters)} ORDER BY ${order} LIMIT ${limit} OFFSET ${offset}`;
}

/** Of each range, with the keys as columns: the planner merges what it knows to be sorted. */
function firstRows(rows: OrderedRows, count: number, columns: Sql): Sql {
  const keys = rows.keys.map((key, index) => Prisma.sql`${key} AS ${keyColumn(index)}`);
  const order = directed([...rows.keys, Prisma.sql`r.id`], rows.sortOrder);
  return overRanges(
    rows,
    (where) => Prisma.sql`
      (SELECT ${Prisma.join([columns, ...keys])} FROM ${rows.from} WHERE ${where} ORDER BY ${order} LIMIT ${count})`,
  );
}

function matchesOf(rows: OrderedRows): Sql {
  return overRanges(rows, (where) => Prisma.sql`SELECT FROM ${rows.from} WHERE ${where}`);
}

function overRanges({ where, ranges }: OrderedRows, select: (where: Sql) => Sql): Sql {
  if (ranges.length === 0) return select(allOf(where));
  return Prisma.join(
    ranges.map((range) => select(allOf([...where, range]))),
    " UNION ALL ",
  );
}

function orderOf({ keys, sortOrder }: OrderedRows): Sql {
  return directed([...keys.map((_, index) => keyColumn(index)), Prisma.sql`id`], sortOrder);
}

function keyColumn(index: number): Sql {
  return Prisma.raw(`key${index}`);
}

function directed(expressions: readonly Sql[], sortOrder: "asc" | "desc"): Sql {
  return Prisma.join(expressions.map((expression) => Prisma.sql`${expression} ${Prisma.raw(sortOrder)}`));
}

function allOf(conditions: readonly Sql[]): Sql {
  return Prisma.join([...conditions], " AND ");
}
