import type { ImportStatus } from "@downlink/protocol";
import { contextOf, type TransactionContext } from "../../background/jobs/transaction-context.ts";
import type { Ctx } from "../../calls/context/context.ts";
import { ApiError, throwNotFound } from "../../core/errors.ts";
import type { RecordingModel } from "../../db/generated/models.ts";
import { type Transaction, withTransaction } from "../../db/transaction.ts";
import { cancelRequests } from "../../import-life/change-request.ts";
import { edgeCopyOf } from "../../import-life/edge-copy.ts";
import { forgetData } from "../../import-life/forget-data.ts";
import { raisePriority } from "../../import-life/import-request-rows.ts";
import { nextImportStatus } from "../../import-life/import-status.ts";
import { type LockedRecording, lockRecording } from "../../import-life/lock-recording.ts";
import { noteLoss, storedFaults } from "../../import-life/lost-data.ts";
import { queueImports } from "../../import-life/queue-imports.ts";
import { requireUnused } from "../../import-life/require-unused.ts";
import { findRequester } from "../../organization/api-keys/find-requester.ts";

interface Answer {
  readonly id: string;
  readonly importStatus: ImportStatus;
}

/**
 * Queues the import of an edge recording; if it is queued, running or done already, at most its place in the queue changes. 404 if its edge
 * copy is gone.
 */
export async function requestImport(ctx: Ctx, { id }: Pick<RecordingModel, "id">, priority: number): Promise<Answer> {
  return withTransaction(ctx.db, async (tx) => {
    const recording = await lockUndamaged(contextOf(tx, ctx), id);
    const edgeFile = edgeCopyOf(recording, ctx.clock.nowNs());
    const next = nextImportStatus(recording.importStatus, "request", edgeFile !== null);
    const requestedBy = await findRequester(tx, ctx);
    if (next === "pending" && recording.importStatus === "pending")
      await raisePriority(tx, [id], { priority, requestedBy });
    if (next === recording.importStatus) return { id, importStatus: next };
    if (!edgeFile) throwNotFound(`the edge copy of recording ${id}`);
    const deviceName = await findDeviceName(tx, recording);
    await queueImports(contextOf(tx, ctx), [{ recording, edgeFile, deviceName }], { priority, requestedBy });
    return { id, importStatus: next };
  });
}

/** A recording whose data is damaged has lost it: what is requested now repairs it. */
async function lockUndamaged(context: TransactionContext, id: string): Promise<LockedRecording> {
  const recording = await lockRecording(context.tx, id);
  const { storedDamage, importStatus } = recording;
  if (storedDamage === null || importStatus !== "complete") return recording;
  await noteLoss(context, recording, storedFaults[storedDamage]);
  return lockRecording(context.tx, id);
}

/** Cancels a request that the edge has not delivered; once the bytes are stored it is too late: 409. */
export async function cancelImport(ctx: Ctx, { id }: RecordingModel): Promise<Answer> {
  await withTransaction(ctx.db, async (tx) => {
    const locked = await lockRecording(tx, id);
    const next = nextImportStatus(locked.importStatus, "cancel", true);
    if (next !== "none")
      throw new ApiError(
        "Conflict",
        `the import of recording ${id} is ${locked.importStatus}; only a pending one can be cancelled`,
      );
    await cancelRequests(contextOf(tx, ctx), [id]);
    await tx.recording.update({ where: { id }, data: { importStatus: next } });
  });
  return { id, importStatus: "none" };
}

/** Deletes the imported data; the recording stays as long as it has an edge copy. spec: States and transitions */
export async function deleteRecording(
  ctx: Ctx,
  { id }: RecordingModel,
  { force = false }: { readonly force?: boolean | undefined },
): Promise<{ recordingId: string; hasEdgeCopy: boolean }> {
  const nowNs = ctx.clock.nowNs();
  const recording = await withTransaction(ctx.db, async (tx) => {
    const locked = await lockRecording(tx, id);
    if (!force) await requireUnused(tx, locked, nowNs);
    await forgetData(contextOf(tx, ctx), locked);
    return locked;
  });
  return { recordingId: id, hasEdgeCopy: edgeCopyOf(recording, nowNs) !== null };
}

async function findDeviceName(tx: Transaction, { deviceId }: RecordingModel): Promise<string | undefined> {
  const device = deviceId === null ? null : await tx.device.findUnique({ where: { id: deviceId } });
  return device?.name;
}
