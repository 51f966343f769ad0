import { type api, type Input, MAX_SAVED_VIEWS, type SavedView } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import type { Handlers } from "../../calls/serve/handlers.ts";
import type { Complete } from "../../core/complete.ts";
import { ApiError, throwNotFound } from "../../core/errors.ts";
import { Prisma } from "../../db/generated/client.ts";
import type { SavedViewModel } from "../../db/generated/models.ts";
import { newId } from "../../db/ids.ts";
import { type Transaction, withTransaction } from "../../db/transaction.ts";

type Contract = typeof api.savedViews;

export const savedViews: Handlers<Contract> = { list, create, update, delete: remove };

async function list(ctx: Ctx, { limit, offset }: Input<Contract["list"]>): Promise<Complete<SavedView>[]> {
  const rows = await ctx.db.prisma.savedView.findMany({
    where: ownerOf(ctx),
    orderBy: [{ name: "asc" }, { id: "asc" }],
    take: limit,
    skip: offset,
  });
  return rows.map(toSavedView);
}

async function create(ctx: Ctx, { name, path, query }: Input<Contract["create"]>): Promise<Complete<SavedView>> {
  const owner = ownerOf(ctx);
  const nowNs = ctx.clock.nowNs();
  const row = await withTransaction(ctx.db, async (tx) => {
    await lockOwner(tx, ctx);
    if ((await tx.savedView.count({ where: owner })) >= MAX_SAVED_VIEWS)
      throw new ApiError("Conflict", `there are ${MAX_SAVED_VIEWS} saved views, as many as there may be; delete one`);
    const data = { id: newId("sv"), ...owner, name, path, query, createdAtNs: nowNs, updatedAtNs: nowNs };
    return tx.savedView.create({ data });
  });
  return toSavedView(row);
}

async function update(ctx: Ctx, { id, name, path, query }: Input<Contract["update"]>): Promise<Complete<SavedView>> {
  const [row] = await ctx.db.prisma.savedView.updateManyAndReturn({
    where: { id, ...ownerOf(ctx) },
    data: { name, path, query, updatedAtNs: ctx.clock.nowNs() },
  });
  return row ? toSavedView(row) : throwNotFound(`saved view ${id}`);
}

async function remove(ctx: Ctx, { id }: Input<Contract["delete"]>): Promise<{ id: string }> {
  const { count } = await ctx.db.prisma.savedView.deleteMany({ where: { id, ...ownerOf(ctx) } });
  return count > 0 ? { id } : throwNotFound(`saved view ${id}`);
}

function ownerOf({ caller }: Ctx) {
  return caller.kind === "apiKey" ? { apiKeyId: caller.keyId } : { memberId: caller.memberId };
}

/** The views of one owner are saved one after another, so that they can be counted. */
async function lockOwner(tx: Transaction, { caller }: Ctx): Promise<void> {
  const [table, id] = caller.kind === "apiKey" ? ["ApiKey", caller.keyId] : ["Member", caller.memberId];
  const held = await tx.$queryRaw<object[]>`
    SELECT id FROM ${Prisma.raw(`"${table}"`)} WHERE id = ${id} FOR NO KEY UPDATE`;
  if (held.length === 0) throw new ApiError("Unauthenticated", "who calls was deleted at this moment");
}

function toSavedView({ id, name, path, query, createdAtNs, updatedAtNs }: SavedViewModel): Complete<SavedView> {
  return { id, name, path, query, createdAt: createdAtNs, updatedAt: updatedAtNs };
}
