// First pages of 2000, of any of 200 versions and in any order, take 30–80 ms of CPU with 1,000,000 episodes. The price is five indexes
// that a removal writes: 12 µs for each episode, 45 µs if the starts are scattered, so that a restore which changes all 1,000,000 takes up
// to a minute. Its limit is ten minutes.

import type { Ctx } from "../../calls/context/context.ts";
import { type CursorPage, type Place, pageOrder, selectBeyondCursor } from "../../calls/search/cursor-page.ts";
import { Prisma } from "../../db/generated/client.ts";
import { avoidIndex } from "../../db/text-sql.ts";
import { isInVersion, membersOf } from "./membership-sql.ts";
import type { Member } from "./show-members.ts";

type Sql = Prisma.Sql;

interface Selection {
  readonly datasetId: string;
  readonly versionNumber: number;
  readonly page: CursorPage;
  /** The column that the list sorts by. */
  readonly column: "addedAtNs" | "createdAtNs" | "startNs" | "endNs";
  /** Conditions on a row `e` of Episode. */
  readonly conditions: readonly Sql[];
  readonly hasMissing: boolean | undefined;
}

/** A version counts as small if the dataset has had this many times as many members outside of it: then its members are read and sorted. */
const OTHERS_FOR_FEW = 20;
/** A page looks at this many times its own number of rows, in its order, before it asks the filter's own index. */
const PREFIX_PAGES = 10;

/**
 * Finds the rows of a page. The index of an order holds the members of all versions, and a walk skips 1,000,000 members of other versions
 * in 50 ms, as long as reading and sorting 100,000 takes. A filter that matches often fills the page from the first rows of the order.
 */
export async function findMembers({ db }: Ctx, selection: Selection): Promise<(Place & Member)[]> {
  const { page, conditions, hasMissing } = selection;
  if (page.take === 0) return [];
  if (await hasFewMembers(db, selection)) return select(db, selection, sortMembers(selection));
  if (conditions.length === 0 && hasMissing === undefined) return select(db, selection, walk(selection));
  const first = await select(db, selection, prefix(selection));
  return first.length === page.take ? first : select(db, selection, readMatching(selection));
}

async function hasFewMembers({ prisma }: Ctx["db"], { datasetId, versionNumber }: Selection): Promise<boolean> {
  const version = { datasetId_versionNumber: { datasetId, versionNumber } };
  const [row, { _sum: sum }] = await Promise.all([
    prisma.datasetVersion.findUnique({ where: version, select: { episodeCount: true } }),
    prisma.datasetVersion.aggregate({ where: { datasetId }, _sum: { addedEpisodeCount: true } }),
  ]);
  const members = row?.episodeCount ?? 0;
  return members * OTHERS_FOR_FEW < (sum.addedEpisodeCount ?? 0) - members;
}

/** A query of rows `m`. */
interface Rows {
  readonly from: Sql;
  readonly where: readonly Sql[];
  /**
   * An expression in place of the column keeps the planner away from the order's index, which it would walk to the end if little matches.
   */
  readonly sortValue: Sql;
}

function select({ prisma }: Ctx["db"], { page, column }: Selection, rows: Rows): Promise<(Place & Member)[]> {
  const { from, where, sortValue } = rows;
  return prisma.$queryRaw<(Place & Member)[]>`
    SELECT m."episodeId" AS id, m."addedIn", m."addedAtNs", ${columnOf(column)}::text AS "sortValue"
    FROM ${from} WHERE ${Prisma.join([...where], " AND ")}
    ORDER BY ${pageOrder(page, { sortValue, id: episodeId })} LIMIT ${page.take} OFFSET ${page.offset}`;
}

/** Walks along the index of the order. */
function walk(selection: Selection): Rows {
  const sortValue = columnOf(selection.column);
  return { from: Prisma.sql`"DatasetMember" m`, where: limitToVersion(selection), sortValue };
}

/** Reads all members of the version, or those that match, without those of other versions, and sorts them. */
function sortMembers(selection: Selection): Rows {
  const { datasetId, versionNumber, page, column, conditions } = selection;
  const from = Prisma.sql`"DatasetMember" m ${joins(selection)}`;
  const where = [membersOf(datasetId, versionNumber), ...conditions, ...seekPage(page, column)];
  return { from, where, sortValue: avoidIndex(columnOf(column), "number") };
}

/** Reads the version's first rows in the order, and keeps those that match. */
function prefix(selection: Selection): Rows {
  const { page, column, conditions } = selection;
  const sortValue = columnOf(column);
  const from = Prisma.sql`(
    SELECT * FROM "DatasetMember" m WHERE ${Prisma.join(limitToVersion(selection), " AND ")}
    ORDER BY ${pageOrder(page, { sortValue, id: episodeId })} LIMIT ${PREFIX_PAGES * page.take + page.offset}
  ) AS m ${joins(selection)}`;
  return { from, where: [Prisma.sql`TRUE`, ...conditions], sortValue };
}

/** Reads all members of the version that match. */
function readMatching(selection: Selection): Rows {
  const from = Prisma.sql`"DatasetMember" m ${joins(selection)}`;
  const where = [...limitToVersion(selection), ...selection.conditions];
  return { from, where, sortValue: avoidIndex(columnOf(selection.column), "number") };
}

function limitToVersion({ datasetId, versionNumber, page, column }: Selection): Sql[] {
  return [Prisma.sql`m."datasetId" = ${datasetId} AND ${isInVersion(versionNumber)}`, ...seekPage(page, column)];
}

function joins({ conditions, hasMissing }: Selection): Sql {
  const episode = Prisma.sql`JOIN "Episode" e ON e.id = m."episodeId"`;
  const available = Prisma.sql`
    JOIN "EpisodeAvailability" a ON a."episodeId" = m."episodeId" AND a."hasMissing" = ${hasMissing}`;
  return Prisma.sql`${conditions.length > 0 ? episode : Prisma.empty} ${hasMissing === undefined ? Prisma.empty : available}`;
}

const episodeId = Prisma.sql`m."episodeId"`;

function columnOf(column: Selection["column"]): Sql {
  return Prisma.raw(`m."${column}"`);
}

function seekPage(page: CursorPage, column: Selection["column"]): Sql[] {
  return selectBeyondCursor(page, { sortValue: columnOf(column), type: "bigint", id: episodeId });
}
