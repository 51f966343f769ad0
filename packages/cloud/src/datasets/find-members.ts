// A version's pages walk the order's index, where a row of another version is passed by its two numbers at a
// twentieth of a microsecond; members that are few among many others are read by [addedIn, removedIn] and sorted.
// First pages of 2000, of any of 200 versions and in any order, take 30–80 ms of CPU with 1,000,000 episodes. The
// price is five indexes that a removal writes: 12 µs an episode, 45 µs where starts are scattered, so that a restore
// which changes all 1,000,000 takes up to a minute. It may take ten.

import type { Ctx } from "../context/context.ts";
import { Prisma } from "../db/generated/client.ts";
import { unindexed } from "../db/text-sql.ts";
import { beyondCursor, type CursorPage, type Place, pageOrder } from "../search/cursor-page.ts";
import { inVersion, membersOf } from "./membership-sql.ts";
import type { Member } from "./show-members.ts";

type Sql = Prisma.Sql;

interface Selection {
  readonly datasetId: string;
  readonly versionNumber: number;
  readonly page: CursorPage;
  /** What the list sorts by. */
  readonly column: "addedAtNs" | "createdAtNs" | "startNs" | "endNs";
  /** On a row `e` of Episode. */
  readonly conditions: readonly Sql[];
  readonly hasMissing: boolean | undefined;
}

/** A version has few members where the dataset has had so many times as many others: they are read and sorted. */
const OTHERS_FOR_FEW = 20;
/** Of the rows that a page takes, how many times as many are looked at in the order before the filter's own index is asked. */
const PREFIX_PAGES = 10;

/**
 * The rows of a page. An order's index has the members of all versions, and a walk passes 1,000,000 of others in 50 ms: as much as
 * it takes to read and sort 100,000. What a filter matches often fills the page from the first rows of the order.
 */
export async function findMembers({ db }: Ctx, selection: Selection): Promise<(Place & Member)[]> {
  const { page, conditions, hasMissing } = selection;
  if (page.take === 0) return [];
  if (await hasFewMembers(db, selection)) return select(db, selection, sorted(selection));
  if (conditions.length === 0 && hasMissing === undefined) return select(db, selection, walk(selection));
  const first = await select(db, selection, prefix(selection));
  return first.length === page.take ? first : select(db, selection, matching(selection));
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

/** Rows `m`. */
interface Rows {
  readonly from: Sql;
  readonly where: readonly Sql[];
  /** An expression in place of the column keeps the planner off the order's index, which it walks to the end where little matches. */
  readonly sortValue: Sql;
}

function select({ prisma }: Ctx["db"], { page, column }: Selection, rows: Rows): Promise<(Place & Member)[]> {
  const { from, where, sortValue } = rows;
  return prisma.$queryRaw<(Place & Member)[]>`
    SELECT m."episodeId" AS id, m."addedIn", m."addedAtNs", ${columnOf(column)}::text AS "sortValue"
    FROM ${from} WHERE ${Prisma.join([...where], " AND ")}
    ORDER BY ${pageOrder(page, { sortValue, id: episodeId })} LIMIT ${page.take} OFFSET ${page.offset}`;
}

/** Along the order's index. */
function walk(selection: Selection): Rows {
  const sortValue = columnOf(selection.column);
  return { from: Prisma.sql`"DatasetMember" m`, where: inOrder(selection), sortValue };
}

/** All of the version, or those that match, read apart from those of others. */
function sorted(selection: Selection): Rows {
  const { datasetId, versionNumber, page, column, conditions } = selection;
  const from = Prisma.sql`"DatasetMember" m ${joins(selection)}`;
  const where = [membersOf(datasetId, versionNumber), ...conditions, ...beyond(page, column)];
  return { from, where, sortValue: unindexed(columnOf(column), "number") };
}

/** What matches of the version's first rows in the order. */
function prefix(selection: Selection): Rows {
  const { page, column, conditions } = selection;
  const sortValue = columnOf(column);
  const from = Prisma.sql`(
    SELECT * FROM "DatasetMember" m WHERE ${Prisma.join(inOrder(selection), " AND ")}
    ORDER BY ${pageOrder(page, { sortValue, id: episodeId })} LIMIT ${PREFIX_PAGES * page.take + page.offset}
  ) AS m ${joins(selection)}`;
  return { from, where: [Prisma.sql`TRUE`, ...conditions], sortValue };
}

/** All of the version that match. */
function matching(selection: Selection): Rows {
  const from = Prisma.sql`"DatasetMember" m ${joins(selection)}`;
  const where = [...inOrder(selection), ...selection.conditions];
  return { from, where, sortValue: unindexed(columnOf(selection.column), "number") };
}

function inOrder({ datasetId, versionNumber, page, column }: Selection): Sql[] {
  return [Prisma.sql`m."datasetId" = ${datasetId} AND ${inVersion(versionNumber)}`, ...beyond(page, column)];
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

function beyond(page: CursorPage, column: Selection["column"]): Sql[] {
  return beyondCursor(page, { sortValue: columnOf(column), type: "bigint", id: episodeId });
}
