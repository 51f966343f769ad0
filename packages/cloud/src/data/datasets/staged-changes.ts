import { Prisma } from "../../db/generated/client.ts";
import type { DatasetModel } from "../../db/generated/models.ts";
import type { Transaction } from "../../db/transaction.ts";
import { isAddedBetween, NEVER } from "./membership-sql.ts";

// The steps that change the members of a dataset's editable version. Each returns how many it changed; `which` is a condition on members
// `m`. The caller has locked the dataset's row, and passes the sums to countStaged.

type Sql = Prisma.Sql;

/** The limit for changes of every member of a dataset: 1,000,000 that are scattered over all indexes take about a minute. */
export const ALL_MEMBERS_TIMEOUT_MS = 600_000;

export type Staging = Pick<DatasetModel, "id" | "editableVersion">;

/** Stages adds. `episodes` is a query of `episodeId` with the episode's own `createdAtNs`, `startNs` and `endNs`. */
export function stageAdds(
  tx: Transaction,
  { id, editableVersion }: Staging,
  { episodes, nowNs }: { episodes: Sql; nowNs: bigint },
): Promise<number> {
  return tx.$executeRaw`
    INSERT INTO "DatasetMember" ("datasetId", "episodeId", "addedIn", "addedAtNs", "createdAtNs", "startNs", "endNs")
    SELECT ${id}, e."episodeId", ${editableVersion}, ${nowNs}, e."createdAtNs", e."startNs", e."endNs" FROM (${episodes}) e`;
}

export function unstageAdds(tx: Transaction, { id, editableVersion }: Staging, which: Sql): Promise<number> {
  return tx.$executeRaw`
    DELETE FROM "DatasetMember" m WHERE m."datasetId" = ${id} AND m."addedIn" = ${editableVersion} AND ${which}`;
}

export function stageRemovals(tx: Transaction, { id, editableVersion }: Staging, which: Sql): Promise<number> {
  return tx.$executeRaw`
    UPDATE "DatasetMember" m SET "removedIn" = ${editableVersion}
    WHERE m."datasetId" = ${id} AND m."removedIn" = ${NEVER} AND ${which}`;
}

export function unstageRemovals(tx: Transaction, { id, editableVersion }: Staging, which: Sql): Promise<number> {
  return tx.$executeRaw`
    UPDATE "DatasetMember" m SET "removedIn" = ${NEVER}
    WHERE m."datasetId" = ${id} AND m."removedIn" = ${editableVersion} AND ${which}`;
}

export interface Discarded {
  readonly discardedAdds: number;
  readonly discardedRemoves: number;
}

/** Makes the editable version equal the last committed one again, and counts it here. */
export async function unstageAll(tx: Transaction, staging: Staging, nowNs: bigint): Promise<Discarded> {
  const committed = isAddedBetween(staging.id, { after: 0, to: staging.editableVersion - 1 });
  const discardedAdds = await unstageAdds(tx, staging, Prisma.sql`TRUE`);
  const discardedRemoves = await unstageRemovals(tx, staging, committed);
  if (discardedAdds + discardedRemoves > 0)
    await countStaged(tx, staging, { adds: -discardedAdds, removals: -discardedRemoves, nowNs });
  return { discardedAdds, discardedRemoves };
}

interface Staged {
  /** How many more than before; negative if some were taken back. */
  readonly adds: number;
  readonly removals: number;
  readonly nowNs: bigint;
}

/** Until a version is committed the dataset shows the count of the editable one. */
export async function countStaged(tx: Transaction, { id, editableVersion }: Staging, staged: Staged): Promise<void> {
  const { adds, removals, nowNs } = staged;
  await tx.datasetVersion.update({
    where: { datasetId_versionNumber: { datasetId: id, versionNumber: editableVersion } },
    data: {
      addedEpisodeCount: { increment: adds },
      removedEpisodeCount: { increment: removals },
      episodeCount: { increment: adds - removals },
    },
  });
  const change = editableVersion === 1 ? adds - removals : 0;
  await tx.dataset.update({ where: { id }, data: { updatedAtNs: nowNs, episodeCount: { increment: change } } });
}
