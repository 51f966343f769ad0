// A comparison reads the members that were added or removed between the two versions, by one index, and counts the side with fewer of them:
// the counts of the versions give the other side. Counts take 3–120 ms of CPU; `removed` rows show the episode as in the base, `added` rows
// as in the target.

import { type Answer, type api, type Input, NEXT_CURSOR_HEADER } from "@downlink/protocol";
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
import { avoidIndex } from "../../db/text-sql.ts";
import { findDataset, findVersion } from "./find-dataset.ts";
import { isOnlyInVersion, membersOnlyIn } from "./membership-sql.ts";
import { type Member, showMembers } from "./show-members.ts";

type Compare = (typeof api.datasetVersions)["compare"];

/** So many changes are read and sorted in 30 ms. */
const QUICK_CHANGES = 50_000;

export async function compareVersions(ctx: Ctx, query: Input<Compare>): Promise<Complete<Answer<Compare>>> {
  const { id: datasetId, versionNumber: target, version: base, include } = query;
  const page = openPage(ctx, "datasetVersions.compare", query);
  const dataset = await findDataset(ctx, datasetId);
  await Promise.all([target, base].map((versionNumber) => findVersion(ctx.db.prisma, dataset, versionNumber)));
  const compared = { datasetId, target, base };
  const counts = await countChanges(ctx, compared);
  const found = page.take === 0 ? [] : await findChanges(ctx, page, { ...compared, ...counts });
  const { rows, headers } = closePage(ctx, page, found);
  const shown = await showMembers(ctx, rows, include);
  const changeOf = new Map(rows.map(({ id, change }) => [id, change]));
  const changes = shown.map((member) => ({ ...member, change: changeOf.get(member.episode.id)! }));
  return { output: { changes, ...counts, nextCursor: headers[NEXT_CURSOR_HEADER] ?? null }, headers };
}

interface Compared {
  readonly datasetId: string;
  readonly target: number;
  readonly base: number;
}

interface Counts {
  readonly addedCount: number;
  readonly removedCount: number;
}

/** Counts only the side with fewer changes; the counts of the two versions give the other side. */
async function countChanges({ db }: Ctx, { datasetId, target, base }: Compared): Promise<Counts> {
  const [earlier, later] = [Math.min(target, base), Math.max(target, base)];
  const { _sum: sum } = await db.prisma.datasetVersion.aggregate({
    where: { datasetId, versionNumber: { gt: earlier, lte: later } },
    _sum: { addedEpisodeCount: true, removedEpisodeCount: true },
  });
  const isGrowing = (sum.addedEpisodeCount ?? 0) > (sum.removedEpisodeCount ?? 0);
  const side = isGrowing ? { versionNumber: earlier, other: later } : { versionNumber: later, other: earlier };
  // One statement sees all of an edit of the editable version or nothing of it.
  const [found] = await db.prisma.$queryRaw<[{ count: number; growth: number }]>`
    SELECT (SELECT count(*) FROM "DatasetMember" m WHERE ${membersOnlyIn(datasetId, side)})::integer AS count,
      ${episodeCountOf(datasetId, later)} - ${episodeCountOf(datasetId, earlier)} AS growth`;
  const gone = isGrowing ? found.count : found.count - found.growth;
  const come = isGrowing ? found.count + found.growth : found.count;
  return target === later ? { addedCount: come, removedCount: gone } : { addedCount: gone, removedCount: come };
}

function episodeCountOf(datasetId: string, versionNumber: number): Prisma.Sql {
  return Prisma.sql`(
    SELECT v."episodeCount" FROM "DatasetVersion" v
    WHERE v."datasetId" = ${datasetId} AND v."versionNumber" = ${versionNumber})`;
}

interface FoundChange extends Place, Member {
  readonly change: "added" | "removed";
}

/** Both sides are in the page's order, and the first rows of both together hold the page. */
function findChanges({ db }: Ctx, page: CursorPage, compared: Compared & Counts): Promise<FoundChange[]> {
  const { datasetId, target, base, addedCount, removedCount } = compared;
  const added = { versionNumber: target, other: base };
  const removed = { versionNumber: base, other: target };
  return db.prisma.$queryRaw<FoundChange[]>`
    SELECT m."episodeId" AS id, m."addedIn", m."addedAtNs", m."startNs"::text AS "sortValue", m.change FROM (
      (SELECT m.*, 'added' AS change ${sideOf(page, { datasetId, count: addedCount, ...added })}) UNION ALL
      (SELECT m.*, 'removed' AS change ${sideOf(page, { datasetId, count: removedCount, ...removed })})
    ) AS m ORDER BY ${pageOrder(page, place)} LIMIT ${page.take}`;
}

interface Side {
  readonly datasetId: string;
  readonly versionNumber: number;
  readonly other: number;
  readonly count: number;
}

/** A few changes are read and sorted; many are found along the index of starts. */
function sideOf(page: CursorPage, side: Side): Prisma.Sql {
  const { datasetId, count } = side;
  const isFew = count <= QUICK_CHANGES;
  const which = isFew ? membersOnlyIn(datasetId, side) : isOnlyInVersion(side);
  const where = [Prisma.sql`m."datasetId" = ${datasetId} AND ${which}`, ...selectBeyondCursor(page, place)];
  const sortValue = isFew ? avoidIndex(place.sortValue, "number") : place.sortValue;
  return Prisma.sql`FROM "DatasetMember" m WHERE ${Prisma.join(where, " AND ")}
    ORDER BY ${pageOrder(page, { ...place, sortValue })} LIMIT ${page.take}`;
}

const place = { sortValue: Prisma.sql`m."startNs"`, type: "bigint", id: Prisma.sql`m."episodeId"` } as const;
