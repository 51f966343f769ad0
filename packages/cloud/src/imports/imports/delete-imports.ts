// Imports (deprecated) are rows of their own that stay after the data was deleted. `deviceId` of a deletion is checked, not ignored,
// because a wrong one is a mistake that would cost data.

import { type api, type Input, MAX_DELETED_IMPORTS, type Output } from "@downlink/protocol";
import { contextOf, type TransactionContext } from "../../background/jobs/transaction-context.ts";
import { findActor } from "../../calls/audit-log/find-actor.ts";
import { writeEntry } from "../../calls/audit-log/write-entry.ts";
import type { Ctx } from "../../calls/context/context.ts";
import { callerId } from "../../core/callers.ts";
import type { Complete } from "../../core/complete.ts";
import { invalid, throwNotFound } from "../../core/errors.ts";
import type { ImportModel } from "../../db/generated/models.ts";
import { joinOneConnection } from "../../db/one-connection.ts";
import { type Transaction, withTransaction } from "../../db/transaction.ts";
import { forgetData } from "../../import-life/forget-data.ts";
import { findLocked } from "../../import-life/lock-recording.ts";
import { requireUnused } from "../../import-life/require-unused.ts";
import { visibleTo } from "../../organization/projects/find-project.ts";

type Contract = typeof api.imports;

/** Deletes all or none; each id that does not exist, or not any more, is answered as notFound. */
export async function deleteImports(
  ctx: Ctx,
  { id: given = [], force = false }: Input<Contract["deleteMany"]>,
): Promise<Complete<Output<Contract["deleteMany"]>>> {
  const ids = [...new Set(given)];
  if (ids.length === 0) invalid("id", "must name at least one import");
  if (given.length > MAX_DELETED_IMPORTS) invalid("id", `must name at most ${MAX_DELETED_IMPORTS} imports`);
  const found = await ctx.db.prisma.import.findMany({ where: { AND: [{ id: { in: ids } }, visibleTo(ctx)] } });
  requireOneSite(found);
  const deleted = await joinOneConnection(ctx.db, async (db) => {
    const inside = { ...ctx, db };
    const done = await deleteData(inside, found, force);
    if (done.size > 0) await writeDeletion(inside, db.tx, [...done]);
    return done;
  });
  return {
    deletionResults: ids.map((importId) => ({ importId, result: deleted.has(importId) ? "success" : "notFound" })),
  };
}

/** A call that found none of the imports deleted nothing. */
async function writeDeletion(ctx: Ctx, tx: Transaction, ids: readonly string[]): Promise<void> {
  const about = { orgId: ctx.caller.orgId, nowNs: ctx.clock.nowNs(), operation: "imports.deleteMany" };
  const change = { ...about, resourceKind: "import", resourceId: callerId(ctx.caller), before: { id: ids } } as const;
  await writeEntry(tx, await findActor(tx, ctx), change);
}

/** `deviceId` was once needed to find the import; a wrong one is taken for a mistake. */
export async function deleteImport(
  ctx: Ctx,
  { importId, deviceId, force = false }: Input<Contract["delete"]>,
): Promise<Complete<Output<Contract["delete"]>>> {
  const row = await ctx.db.prisma.import.findFirst({ where: { AND: [{ id: importId }, visibleTo(ctx)] } });
  const isMeant = row && (!deviceId || deviceId === row.deviceId);
  if (!isMeant || !(await deleteData(ctx, [row], force)).has(importId)) throwNotFound(`import ${importId}`);
  return { id: importId };
}

/** 400 for "deleting several imports where any belongs to a different site than the others". spec: Errors */
function requireOneSite(rows: readonly ImportModel[]): void {
  const [first] = rows;
  const other = rows.find(({ siteId }) => siteId !== first?.siteId);
  if (first && other)
    invalid(
      "id",
      `must name imports of one site; ${first.id} is at site ${first.siteId}, ${other.id} at site ${other.siteId}`,
    );
}

/** Returns which of them still had data. */
async function deleteData(ctx: Ctx, rows: readonly ImportModel[], isForced: boolean): Promise<Set<string>> {
  const inOrder = [...rows].sort((a, b) => (a.recordingId < b.recordingId ? -1 : 1)); // every transaction locks in this order
  const deleted = await withTransaction(ctx.db, async (tx) => {
    const done: ImportModel[] = [];
    const context = { ...contextOf(tx, ctx), isForced };
    for (const row of inOrder) if (await deleteDataOf(context, row)) done.push(row);
    return done;
  });
  return new Set(deleted.map(({ id }) => id));
}

interface Deletion extends TransactionContext {
  readonly isForced: boolean;
}

async function deleteDataOf({ isForced, ...context }: Deletion, { id, recordingId }: ImportModel): Promise<boolean> {
  const { tx, nowNs } = context;
  const recording = await findLocked(tx, recordingId);
  if (recording?.importId !== id) return false; // deleted, and perhaps imported again
  if (!isForced) await requireUnused(tx, recording, nowNs);
  await forgetData(context, recording);
  return true;
}
