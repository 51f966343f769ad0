// First pages of 2000 at 1,000,000 episodes take 50 ms of CPU; filters that match some percents take up to 250 ms; a filter that matches
// much, but only far down the order, reads all of it.

import type { Answer, api, Input } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import {
  type CursorPage,
  closePage,
  openPage,
  type Place,
  pageOrder,
  selectBeyondCursor,
} from "../../calls/search/cursor-page.ts";
import type { Complete } from "../../core/complete.ts";
import { Prisma } from "../../db/generated/client.ts";
import { touches } from "../../db/span-sql.ts";
import { visibleProjectIds } from "../../organization/projects/find-project.ts";
import { readEpisodes } from "./episode-rows.ts";
import { contentConditions, requireRecording, windowConditions } from "./find-episodes.ts";

type List = (typeof api.episodes)["list"];
type Sql = Prisma.Sql;

/** So many rows of the list's order are read first, to see how often the filters match; for a larger page, as many as the page has. */
const SAMPLE_ROWS = 1000;
/**
 * Checking a row of the order takes two and a half times as long as reading a matching row. At this share of 1,000,000 episodes, both ways
 * fill the page in the same time.
 */
const BALANCE_ROWS = 400_000;

interface Selection {
  readonly page: CursorPage;
  readonly projectIds: readonly string[];
  /** The column that the list sorts by; Episode and EpisodeAvailability have it. */
  readonly column: Sql;
  readonly hasMissing: boolean | undefined;
  /** Conditions on a row `e` of Episode, */
  readonly conditions: readonly Sql[];
  /** and the same conditions in a form for the indexes that find matching rows. */
  readonly narrowed: readonly Sql[];
}

/** Finds first the ids of the page, from narrow rows, and then the page itself. */
export async function listEpisodes(ctx: Ctx, query: Input<List>): Promise<Complete<Answer<List>>> {
  const { sortBy = "createdAt", hasMissingRecordings, include } = query;
  const within = windowConditions(query);
  const asked = contentConditions(query);
  const page = openPage(ctx, "episodes.list", { ...query, sortBy });
  const projectIds = await visibleProjectIds(ctx, query.projectId);
  await requireRecording(ctx, query);
  const column = Prisma.raw(columns[sortBy]);
  const conditions = [...within, ...asked];
  const narrowed = [...within, ...contentConditions(query, "pairs")];
  const selection = { page, projectIds, column, hasMissing: hasMissingRecordings, conditions, narrowed };
  const found = await findPlaces(ctx, selection, asked.length === 0 ? spanOf(query, sortBy) : undefined);
  const { rows, headers } = closePage(ctx, page, found);
  const ids = rows.map(({ id }) => id);
  return { output: { episodes: await readEpisodes(ctx, ids, include) }, headers };
}

const columns = { createdAt: '"createdAtNs"', startTime: '"startNs"', endTime: '"endNs"' } as const;

/** A window along which the order goes. */
interface Span {
  readonly start: bigint;
  readonly end: bigint;
  /** The end of the window that is crossed by episodes which sort outside of it. */
  readonly edge: "start" | "end";
}

function spanOf({ start, end }: Input<List>, sortBy: keyof typeof columns): Span | undefined {
  if (sortBy === "createdAt" || start === undefined || end === undefined || start > end) return undefined;
  return { start, end, edge: sortBy === "startTime" ? "start" : "end" };
}

/**
 * Walks the index of the order and checks the filters row by row as long as that promises to fill the page soon; otherwise reads and sorts
 * all matching rows. Windows in the order of start or end are read along that order.
 */
async function findPlaces({ db }: Ctx, selection: Selection, span: Span | undefined): Promise<Place[]> {
  const { take, offset } = selection.page;
  if (selection.projectIds.length === 0) return [];
  if (selection.conditions.length === 0)
    return select(db, selection, selectInOrder(selection, { count: take + offset }));
  if (span) return select(db, selection, selectAlongSpan(selection, span));
  const found = offset === 0 ? await walk(db, selection) : [];
  return found.length === take ? found : select(db, selection, selectAll(selection));
}

/** A filter that matches often fills the page from the first rows of the order; a sample that is smaller than the page says nothing. */
async function walk(db: Ctx["db"], selection: Selection): Promise<Place[]> {
  const { take } = selection.page;
  const sampleRows = Math.max(SAMPLE_ROWS, take);
  const found = await select(db, selection, selectAmongFirst(selection, sampleRows));
  const maxRows = Math.ceil(Math.sqrt(take * BALANCE_ROWS));
  const expectedRows = (take / found.length) * sampleRows;
  if (found.length === take || expectedRows > maxRows) return found;
  return select(db, selection, selectAmongFirst(selection, maxRows));
}

/** Selects the page; `rows` is SQL of ids and sort values. */
function select({ prisma }: Ctx["db"], { page }: Selection, rows: Sql): Promise<Place[]> {
  return prisma.$queryRaw<Place[]>`
    SELECT o.id, o."sortValue"::text AS "sortValue" FROM (${rows}) AS o ORDER BY ${placeOrder(page)}
    LIMIT ${page.take} OFFSET ${page.offset}`;
}

interface First {
  readonly count: number;
  readonly span?: Span;
}

/**
 * Selects the first rows of the order after the cursor. The indexes begin with project and availability; the rows of each pair of these are
 * merged, and read no further than they are needed.
 */
function selectInOrder({ page, projectIds, column, hasMissing }: Selection, { count, span }: First): Sql {
  const sortValue = Prisma.sql`a.${column}`;
  const place = { sortValue, type: "bigint", id: Prisma.sql`a."episodeId"` } as const;
  const where = [
    ...(span ? [Prisma.sql`${sortValue} BETWEEN ${span.start} AND ${span.end}`] : []),
    ...selectBeyondCursor(page, place),
  ];
  const flags = hasMissing === undefined ? [false, true] : [hasMissing];
  const runs = projectIds.flatMap((projectId) =>
    flags.map((flag) => {
      const run = [Prisma.sql`a."projectId" = ${projectId}`, Prisma.sql`a."hasMissing" = ${flag}`, ...where];
      return Prisma.sql`(
        SELECT ${place.id} AS id, ${sortValue} AS "sortValue" FROM "EpisodeAvailability" a
        WHERE ${Prisma.join(run, " AND ")} ORDER BY ${pageOrder(page, place)} LIMIT ${count})`;
    }),
  );
  const merged = Prisma.join(runs, " UNION ALL ");
  return Prisma.sql`SELECT * FROM (${merged}) AS o ORDER BY ${placeOrder(page)} LIMIT ${count}`;
}

/** Episodes that start (or end, depending on the order) within the window stand together in the order; all others cross one end of it. */
function selectAlongSpan(selection: Selection, span: Span): Sql {
  const { page, column } = selection;
  const crossing = [
    ...touches("e", { start: span[span.edge], end: span[span.edge] }),
    span.edge === "start" ? Prisma.sql`e."startNs" < ${span.start}` : Prisma.sql`e."endNs" > ${span.end}`,
  ];
  return Prisma.sql`
    (${selectInOrder(selection, { count: page.take + page.offset, span })}) UNION ALL
    (SELECT e.id, e.${column} AS "sortValue" ${selectMatching(selection, crossing)})`;
}

/** Selects the matching rows among the first rows of the order, and looks up each by its id alone. */
function selectAmongFirst(selection: Selection, count: number): Sql {
  return Prisma.sql`
    SELECT o.id, o."sortValue" FROM (${selectInOrder(selection, { count })}) AS o
    CROSS JOIN LATERAL (SELECT * FROM "Episode" WHERE id = o.id OFFSET 0) AS e
    WHERE ${Prisma.join([...selection.conditions], " AND ")}`;
}

function placeOrder(page: CursorPage): Sql {
  return pageOrder(page, { sortValue: Prisma.sql`o."sortValue"`, id: Prisma.sql`o.id` });
}

function selectAll(selection: Selection): Sql {
  return Prisma.sql`
    SELECT e.id, e.${selection.column} AS "sortValue" ${selectMatching(selection, selection.narrowed)}`;
}

/** Selects rows after the cursor by the filters' own indexes; Episode has no index for the order. */
function selectMatching({ page, projectIds, column, hasMissing }: Selection, conditions: readonly Sql[]): Sql {
  const available =
    hasMissing === undefined
      ? Prisma.empty
      : Prisma.sql`JOIN "EpisodeAvailability" a ON a."episodeId" = e.id AND ${isInProjects("a", projectIds)}
          AND a."hasMissing" = ${hasMissing}`;
  const place = { sortValue: Prisma.sql`e.${column}`, type: "bigint", id: Prisma.sql`e.id` } as const;
  const where = [isInProjects("e", projectIds), ...conditions, ...selectBeyondCursor(page, place)];
  return Prisma.sql`FROM "Episode" e ${available} WHERE ${Prisma.join(where, " AND ")}`;
}

/** One project is an equality, which the index of spans can use. */
function isInProjects(alias: string, projectIds: readonly string[]): Sql {
  const column = Prisma.raw(`${alias}."projectId"`);
  const [only] = projectIds;
  return projectIds.length === 1 ? Prisma.sql`${column} = ${only}` : Prisma.sql`${column} = ANY(${[...projectIds]})`;
}
