import type { Ctx } from "../../calls/context/context.ts";
import type { DatasetModel } from "../../db/generated/models.ts";
import { isInVersion } from "./membership-sql.ts";

/**
 * Says whether any episode of a version misses recordings. The version's members and the project's episodes that miss some are read side by
 * side, along two indexes of one order, until they meet. `OFFSET 0` keeps the planner from looking up the rows of one index in the other,
 * which takes seconds if there are many of both and none in common.
 */
export async function missesRecordings(
  { db }: Ctx,
  { id, projectId }: DatasetModel,
  versionNumber: number,
): Promise<boolean> {
  const [row] = await db.prisma.$queryRaw<[{ isSome: boolean }]>`
    SELECT EXISTS (
      SELECT FROM (
        SELECT m."startNs", m."episodeId" FROM "DatasetMember" m
        WHERE m."datasetId" = ${id} AND ${isInVersion(versionNumber)} ORDER BY m."startNs", m."episodeId" OFFSET 0) AS m
      JOIN (
        SELECT a."startNs", a."episodeId" FROM "EpisodeAvailability" a
        WHERE a."projectId" = ${projectId} AND a."hasMissing" ORDER BY a."startNs", a."episodeId" OFFSET 0) AS a
        USING ("startNs", "episodeId")) AS "isSome"`;
  return row.isSome;
}
