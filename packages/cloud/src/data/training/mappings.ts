import { createHash } from "node:crypto";
import { type Answer, type api, type DatasetMapping, type Input, MAX_MAPPINGS } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import { closePage, openPage, pageOrder, selectBeyondCursor } from "../../calls/search/cursor-page.ts";
import type { Handlers } from "../../calls/serve/handlers.ts";
import type { Complete } from "../../core/complete.ts";
import { ApiError, throwNotFound } from "../../core/errors.ts";
import { Prisma } from "../../db/generated/client.ts";
import type { DatasetMappingModel } from "../../db/generated/models.ts";
import { newId } from "../../db/ids.ts";
import { type Transaction, withTransaction } from "../../db/transaction.ts";
import { findDataset, lockDataset } from "../datasets/find-dataset.ts";
import { toMapping } from "./mapping-rows.ts";

type Contract = typeof api.datasetMappings;

export const datasetMappings: Handlers<Contract> = {
  create: createMapping,
  list: listMappings,
  get: async (ctx, { id, mappingId }) => toMapping(await findMapping(ctx, { datasetId: id, mappingId })),
};

async function createMapping(
  ctx: Ctx,
  { id, name, mapping }: Input<Contract["create"]>,
): Promise<Complete<DatasetMapping>> {
  const text = JSON.stringify(mapping);
  const sha256 = createHash("sha256").update(text).digest("hex");
  const row = await withTransaction(ctx.db, async (tx) => {
    const { orgId } = await lockDataset(tx, ctx, id);
    const named = { datasetId: id, name };
    const same = await tx.datasetMapping.findFirst({ where: { ...named, sha256 } });
    if (same) return same;
    await requireFew(tx, id);
    const { _max: last } = await tx.datasetMapping.aggregate({ where: named, _max: { revision: true } });
    const revision = (last.revision ?? 0) + 1;
    const createdAtNs = ctx.clock.nowNs();
    return tx.datasetMapping.create({
      data: { id: newId("map"), orgId, ...named, revision, text, sha256, createdAtNs },
    });
  });
  return toMapping(row);
}

async function requireFew(tx: Transaction, datasetId: string): Promise<void> {
  if ((await tx.datasetMapping.count({ where: { datasetId } })) >= MAX_MAPPINGS)
    throw new ApiError("Conflict", `the dataset has ${MAX_MAPPINGS} revisions of mappings, as many as it may have`);
}

async function listMappings(ctx: Ctx, query: Input<Contract["list"]>): Promise<Complete<Answer<Contract["list"]>>> {
  const page = openPage(ctx, "datasetMappings.list", query);
  const { id } = await findDataset(ctx, query.id);
  const place = { sortValue: Prisma.sql`m."createdAtNs"`, type: "bigint", id: Prisma.sql`m.id` } as const;
  const where = [Prisma.sql`m."datasetId" = ${id}`, ...selectBeyondCursor(page, place)];
  const found = await ctx.db.prisma.$queryRaw<DatasetMappingModel[]>`
    SELECT m.* FROM "DatasetMapping" m WHERE ${Prisma.join(where, " AND ")}
    ORDER BY ${pageOrder(page, place)} LIMIT ${page.take} OFFSET ${page.offset}`;
  const places = found.map((row) => ({ row, id: row.id, sortValue: String(row.createdAtNs) }));
  const { rows, headers } = closePage(ctx, page, places);
  return { output: { mappings: rows.map(({ row }) => toMapping(row)) }, headers };
}

interface Ref {
  readonly datasetId: string;
  readonly mappingId: string;
}

/** Finds a mapping of a dataset that the caller may see; 404 otherwise. */
export async function findMapping(ctx: Ctx, { datasetId, mappingId }: Ref): Promise<DatasetMappingModel> {
  const dataset = await findDataset(ctx, datasetId);
  const row = await ctx.db.prisma.datasetMapping.findFirst({ where: { id: mappingId, datasetId: dataset.id } });
  return row ?? throwNotFound(`mapping ${mappingId} of dataset ${datasetId}`);
}
