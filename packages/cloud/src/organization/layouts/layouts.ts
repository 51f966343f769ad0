import { randomUUID } from "node:crypto";
import type { api, Input, LayoutPermission } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import { creatorOf } from "../../core/callers.ts";
import { refuse, throwNotFound } from "../../core/errors.ts";
import { joinOneConnection } from "../../db/one-connection.ts";
import { asText, type Parameters, prepare } from "../../db/prepared.ts";
import { onUniqueViolation } from "../../db/sql-state.ts";
import { filterEverVisible, filterVisible, type LayoutRow } from "./layout-rows.ts";

type Contract = typeof api.layouts;
/** `data` as the text that was sent. */
export type WithText<T> = Omit<T, "data"> & { readonly data: string | undefined };

const ROWS_WITH_DATA = 8; // each row may hold 4 MiB

/** Lists in batches, so that no more than one is in memory. */
export async function* listLayouts(ctx: Ctx, query: Input<Contract["list"]>): AsyncGenerator<LayoutRow[], void> {
  const { updatedSince, includeData, limit, offset } = query;
  const where = { ...filterVisible(ctx), ...(updatedSince !== undefined && { updatedAtNs: { gte: updatedSince } }) };
  const order = [{ createdAtNs: "asc" as const }, { id: "asc" as const }];
  const { layout } = ctx.db.prisma;
  if (!includeData) {
    yield await layout.findMany({ where, orderBy: order, take: limit, skip: offset, omit: { data: true } });
    return;
  }
  const page = await layout.findMany({ where, orderBy: order, take: limit, skip: offset, select: { id: true } });
  for (let start = 0; start < page.length; start += ROWS_WITH_DATA) {
    const ids = page.slice(start, start + ROWS_WITH_DATA).map(({ id }) => id);
    yield await layout.findMany({ where: { AND: [where, { id: { in: ids } }] }, orderBy: order });
  }
}

export async function createLayout(ctx: Ctx, body: WithText<Input<Contract["create"]>>): Promise<LayoutRow> {
  const { id = randomUUID(), name, permission, savedAt, folderName, data } = body;
  requireShared(ctx, permission);
  const nowNs = ctx.clock.nowNs();
  const { creatorOrgMemberId } = creatorOf(ctx.caller);
  const stamps = { creatorOrgMemberId, createdAtNs: nowNs, updatedAtNs: nowNs };
  const row = { id, orgId: ctx.caller.orgId, name, permission, data: "", ...stamps };
  return joinOneConnection(ctx.db, async (db) => {
    const made = await db.prisma.layout
      .create({ data: { ...row, savedAtNs: savedAt ?? null, folderName: folderName || null }, omit: { data: true } })
      .catch(idTaken(id));
    await storeData(db, { id, orgId: row.orgId, data: data! });
    return { ...made, data: data! };
  });
}

/** Prisma copies a text several times: for a million characters that takes 20 ms, in which no other call is answered. */
const storeData = prepare((db, { orgId, id, data }: Parameters<{ orgId: string; id: string; data: string }>) =>
  db
    .updateTable("Layout")
    .set({ data: asText(data) })
    .where("orgId", "=", orgId)
    .where("id", "=", id),
);

export async function getLayout(ctx: Ctx, { id, includeData }: Input<Contract["get"]>): Promise<LayoutRow> {
  const row = await ctx.db.prisma.layout.findFirst({
    where: { id, ...filterVisible(ctx) },
    omit: { data: !includeData },
  });
  return row ?? throwNotFound(`layout ${id}`);
}

/** Fields that are not sent stay; an empty `folderName` removes it. spec: Layouts/Update */
export async function updateLayout(ctx: Ctx, input: WithText<Input<Contract["update"]>>): Promise<LayoutRow> {
  const { id, name, permission, savedAt, folderName, data } = input;
  if (permission !== undefined) requireShared(ctx, permission);
  const folder = folderName === undefined ? {} : { folderName: folderName || null };
  await requireWritable(ctx, id, permission);
  return joinOneConnection(ctx.db, async (db) => {
    const [row] = await db.prisma.layout.updateManyAndReturn({
      where: { id, ...filterVisible(ctx) },
      data: { name, permission, savedAtNs: savedAt, ...folder, updatedAtNs: ctx.clock.nowNs() },
      omit: { data: data !== undefined },
    });
    if (!row) throwNotFound(`layout ${id}`);
    if (data === undefined) return row;
    await storeData(db, { id, orgId: ctx.caller.orgId, data });
    return { ...row, data };
  });
}

/** The id stays taken, and the layout can be restored. */
export async function deleteLayout(ctx: Ctx, { id }: Input<Contract["delete"]>): Promise<{ success: true }> {
  await requireWritable(ctx, id);
  const { count } = await ctx.db.prisma.layout.updateMany({
    where: { id, ...filterVisible(ctx) },
    data: { deletedAtNs: ctx.clock.nowNs() },
  });
  return count === 1 ? { success: true } : throwNotFound(`layout ${id}`);
}

/** Restoring a layout that is not deleted does no harm. Clients that poll by `updatedSince` see the restored one. spec: Layouts/Restore */
export async function restoreLayout(ctx: Ctx, { id }: Input<Contract["restore"]>): Promise<{ success: true }> {
  const where = { ...filterEverVisible(ctx), id };
  await requireWritable(ctx, id);
  const { count } = await ctx.db.prisma.layout.updateMany({
    where: { ...where, deletedAtNs: { not: null } },
    data: { deletedAtNs: null, updatedAtNs: ctx.clock.nowNs() },
  });
  if (count === 1 || (await ctx.db.prisma.layout.count({ where })) === 1) return { success: true };
  return throwNotFound(`layout ${id}`);
}

/** A layout with `ORG_READ` is changed by its creator and by admins; keys are as good as admins. spec: Authentication 7 */
async function requireWritable(ctx: Ctx, id: string, permission?: LayoutPermission): Promise<void> {
  const { caller } = ctx;
  if (caller.kind === "apiKey" || (caller.role === "admin" && permission !== "CREATOR_WRITE")) return;
  const row = await ctx.db.prisma.layout.findFirst({ where: { ...filterEverVisible(ctx), id }, omit: { data: true } });
  if (!row || row.creatorOrgMemberId === caller.memberId) return;
  if (permission === "CREATOR_WRITE")
    refuse("MissingCapability", "only its creator can take a layout away from the organization");
  if (row.permission === "ORG_READ" && caller.role !== "admin")
    refuse("MissingCapability", "a layout with the permission ORG_READ is changed by its creator and by admins only");
}

/** API keys may only write shared layouts, and members make only layouts of their own `CREATOR_WRITE`. spec: Authentication 7 */
function requireShared({ caller }: Ctx, permission: LayoutPermission): void {
  if (permission === "CREATOR_WRITE" && caller.kind === "apiKey")
    refuse("WrongCredentialKind", "an API key has only layouts that are shared: permission ORG_READ or ORG_WRITE");
}

function idTaken(id: string) {
  return onUniqueViolation(() => refuse("NameTaken", `the organization has, or had, a layout ${id}`));
}
