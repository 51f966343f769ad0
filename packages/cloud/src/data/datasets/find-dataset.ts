import type { Ctx } from "../../calls/context/context.ts";
import { throwNotFound } from "../../core/errors.ts";
import type { DatasetModel, DatasetVersionModel } from "../../db/generated/models.ts";
import type { Transaction } from "../../db/transaction.ts";
import { visibleTo } from "../../organization/projects/find-project.ts";

export async function findDataset(ctx: Ctx, id: string): Promise<DatasetModel> {
  const where = { AND: [{ id }, visibleTo(ctx)] };
  return (await ctx.db.prisma.dataset.findFirst({ where })) ?? throwNotFound(`dataset ${id}`);
}

/** Locks the dataset's row and returns it: edits, commits, restores and deletions of one dataset run one after another. */
export async function lockDataset(tx: Transaction, ctx: Ctx, id: string): Promise<DatasetModel> {
  await tx.$queryRaw`SELECT id FROM "Dataset" WHERE id = ${id} AND "orgId" = ${ctx.caller.orgId} FOR NO KEY UPDATE`;
  const where = { AND: [{ id }, visibleTo(ctx)] };
  return (await tx.dataset.findFirst({ where })) ?? throwNotFound(`dataset ${id}`);
}

/** Finds a committed or editable version; 404 if the dataset has no such version. */
export async function findVersion(
  db: Pick<Transaction, "datasetVersion">,
  { id }: Pick<DatasetModel, "id">,
  versionNumber: number,
): Promise<DatasetVersionModel> {
  const where = { datasetId_versionNumber: { datasetId: id, versionNumber } };
  return (await db.datasetVersion.findUnique({ where })) ?? throwNotFound(`version ${versionNumber} of dataset ${id}`);
}
