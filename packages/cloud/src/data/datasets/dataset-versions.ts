import type { Answer, api, Input, Output } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import { closePage, openPage, pageOrder, selectBeyondCursor } from "../../calls/search/cursor-page.ts";
import type { Handlers } from "../../calls/serve/handlers.ts";
import type { Complete } from "../../core/complete.ts";
import { Prisma } from "../../db/generated/client.ts";
import type { DatasetModel, DatasetVersionModel } from "../../db/generated/models.ts";
import { type Transaction, withTransaction } from "../../db/transaction.ts";
import { commitVersion } from "./commit-version.ts";
import { compareVersions } from "./compare-versions.ts";
import { toVersion } from "./dataset-rows.ts";
import { findDataset, findVersion, lockDataset } from "./find-dataset.ts";
import { listVersionEpisodes } from "./list-version-episodes.ts";
import { isInVersion } from "./membership-sql.ts";
import { restoreVersion } from "./restore-version.ts";
import { ALL_MEMBERS_TIMEOUT_MS, unstageAll } from "./staged-changes.ts";

type Contract = typeof api.datasetVersions;

export const datasetVersions: Handlers<Contract> = {
  commit: commitVersion,
  discard: discardChanges,
  list: listVersions,
  get: getVersion,
  listEpisodes,
  compare: compareVersions,
  restore: restoreVersion,
};

async function discardChanges(
  ctx: Ctx,
  { id }: Input<Contract["discard"]>,
): Promise<Complete<Output<Contract["discard"]>>> {
  const work = async (tx: Transaction) => unstageAll(tx, await lockDataset(tx, ctx, id), ctx.clock.nowNs());
  return withTransaction(ctx.db, work, { timeoutMs: ALL_MEMBERS_TIMEOUT_MS });
}

async function listVersions(ctx: Ctx, query: Input<Contract["list"]>): Promise<Complete<Answer<Contract["list"]>>> {
  const page = openPage(ctx, "datasetVersions.list", query);
  const { id } = await findDataset(ctx, query.id);
  const place = { sortValue: Prisma.sql`v."versionNumber"`, type: "integer", id: Prisma.sql`v."datasetId"` } as const;
  const where = [Prisma.sql`v."datasetId" = ${id}`, ...selectBeyondCursor(page, place)];
  const found = await ctx.db.prisma.$queryRaw<DatasetVersionModel[]>`
    SELECT v.* FROM "DatasetVersion" v WHERE ${Prisma.join(where, " AND ")}
    ORDER BY ${pageOrder(page, place)} LIMIT ${page.take} OFFSET ${page.offset}`;
  const places = found.map((row) => ({ row, id, sortValue: String(row.versionNumber) }));
  const { rows, headers } = closePage(ctx, page, places);
  return { output: { versions: rows.map(({ row }) => toVersion(row)) }, headers };
}

async function getVersion(
  ctx: Ctx,
  { id, versionNumber }: Input<Contract["get"]>,
): Promise<Complete<Output<Contract["get"]>>> {
  const dataset = await findDataset(ctx, id);
  const version = await findVersion(ctx.db.prisma, dataset, versionNumber);
  const hasMissingRecordings = await missesRecordings(ctx, dataset, versionNumber);
  return { ...toVersion(version), hasMissingRecordings };
}

async function listEpisodes(
  ctx: Ctx,
  query: Input<Contract["listEpisodes"]>,
): Promise<Complete<Answer<Contract["listEpisodes"]>>> {
  const dataset = await findDataset(ctx, query.id);
  await findVersion(ctx.db.prisma, dataset, query.versionNumber);
  return listVersionEpisodes(ctx, { list: "datasetVersions.listEpisodes", dataset, query });
}

/**
 * Says whether any episode of a version misses recordings. The version's members and the project's episodes that miss some are read side by
 * side, along two indexes of one order, until they meet. `OFFSET 0` keeps the planner from looking up the rows of one index in the other,
 * which takes seconds if there are many of both and none in common.
 */
async function missesRecordings({ db }: Ctx, { id, projectId }: DatasetModel, versionNumber: number): Promise<boolean> {
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
