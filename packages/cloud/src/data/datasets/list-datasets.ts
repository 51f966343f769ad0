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
import { sortByIds } from "../../db/sort-by-ids.ts";
import { patternOfPart } from "../../db/text-sql.ts";
import { visibleProjectIds } from "../../organization/projects/find-project.ts";
import { toDataset } from "./dataset-rows.ts";

type List = (typeof api.datasets)["list"];

export async function listDatasets(ctx: Ctx, query: Input<List>): Promise<Complete<Answer<List>>> {
  const { sortBy = "createdAt", name = "" } = query;
  const page = openPage(ctx, "datasets.list", { ...query, sortBy });
  const projectIds = await visibleProjectIds(ctx, query.projectId);
  const found = await findDatasets(ctx, page, { projectIds, name, ...sortKeys[sortBy] });
  const { rows, headers } = closePage(ctx, page, found);
  const ids = rows.map(({ id }) => id);
  const datasets = await ctx.db.prisma.dataset.findMany({ where: { id: { in: ids } } });
  return { output: sortByIds(ids, datasets).map(toDataset), headers };
}

const sortKeys = {
  name: { column: '"name"', type: "text" },
  createdAt: { column: '"createdAtNs"', type: "bigint" },
  updatedAt: { column: '"updatedAtNs"', type: "bigint" },
  episodeCount: { column: '"episodeCount"', type: "integer" },
} as const;

interface Selection {
  readonly projectIds: readonly string[];
  readonly name: string;
  readonly column: string;
  readonly type: "bigint" | "integer" | "text";
}

/** The indexes begin with the project: the page's rows are among the first rows of each project. */
function findDatasets({ db }: Ctx, page: CursorPage, { projectIds, name, column, type }: Selection): Promise<Place[]> {
  const place = { sortValue: Prisma.sql`d.${Prisma.raw(column)}`, type, id: Prisma.sql`d.id` };
  const where = [
    Prisma.sql`d."projectId" = p.id`,
    ...(name ? [Prisma.sql`d.name ILIKE ${patternOfPart(name)}`] : []),
    ...selectBeyondCursor(page, place),
  ];
  const order = pageOrder(page, { sortValue: Prisma.sql`f.value`, id: Prisma.sql`f.id` });
  return db.prisma.$queryRaw<Place[]>`
    SELECT f.id, f.value::text AS "sortValue" FROM unnest(${[...projectIds]}::text[]) AS p(id) CROSS JOIN LATERAL (
      SELECT d.id, ${place.sortValue} AS value FROM "Dataset" d WHERE ${Prisma.join(where, " AND ")}
      ORDER BY ${pageOrder(page, place)} LIMIT ${page.take + page.offset}) AS f
    ORDER BY ${order} LIMIT ${page.take} OFFSET ${page.offset}`;
}
