import { removeIndex } from "../../background/indexing/index-key.ts";
import type { TransactionContext } from "../../background/jobs/transaction-context.ts";
import type { BucketObjectModel, ImportRequestModel } from "../../db/generated/models.ts";
import type { Transaction } from "../../db/transaction.ts";
import { changeRequest } from "../../import-life/change-request.ts";
import { moveRecording } from "../../import-life/delivery.ts";
import { terminalStates } from "../../import-life/import-request-state.ts";
import { findLocked } from "../../import-life/lock-recording.ts";
import { loseData } from "../../import-life/lost-data.ts";
import { publishFailure } from "../../import-life/publish-failure.ts";
import { findLocation, keyOfObject } from "./object-location.ts";

const reasons = {
  ObjectGone: "the object is not in the customer's bucket any more; the recording comes back when the object does",
  ObjectReplaced: "the customer's bucket has another object under this name now",
  SiteDeleted: "the site with the customer's bucket was deleted",
} as const;

export type LossCode = keyof typeof reasons;

export function lossText(code: LossCode): string {
  return reasons[code];
}

/** The codes of recordings and requests whose object is not where it was. */
export const lossCodes = Object.keys(reasons) as readonly LossCode[];

/** The bucket does not have this object any more. Nothing is deleted for it: rows say so, and keep what they know. */
export async function loseObject(
  context: TransactionContext,
  object: BucketObjectModel,
  code: LossCode,
): Promise<void> {
  const { tx, nowNs } = context;
  await tx.bucketObject.update({ where: { id: object.id }, data: { goneAtNs: nowNs, updatedAtNs: nowNs } });
  const request = object.requestId && (await tx.importRequest.findUnique({ where: { id: object.requestId } }));
  if (request) await failOpenRequest(context, request, code);
  await loseRecording(context, keyOfObject(object), code);
}

/** Fails the request that is still open, because its object is lost. */
async function failOpenRequest(
  { tx, jobs, nowNs }: TransactionContext,
  request: ImportRequestModel,
  code: LossCode,
): Promise<void> {
  if (terminalStates.some((state) => state === request.state)) return;
  const { recordingId } = request;
  if (recordingId !== null) await findLocked(tx, recordingId);
  await removeIndex({ tx, jobs }, request);
  const text = reasons[code];
  const data = { errorCode: code, errorText: text, nextAttemptAtNs: null, indexKey: null };
  const failed = await changeRequest({ tx, nowNs }, { id: request.id, event: "fail", data });
  if (!failed) return;
  if (recordingId !== null) await moveRecording(tx, recordingId, { event: "fail", reason: { code, text } });
  await publishFailure({ tx, nowNs }, failed);
}

/** The recording's data is unavailable, unless the bucket has the same under another name. */
export async function loseRecording(context: TransactionContext, blobKey: string, code: LossCode): Promise<void> {
  const { tx } = context;
  const recording = await tx.recording.findUnique({ where: { blobKey }, select: { id: true } });
  if (!recording) return;
  const copy = await findCopy(tx, recording.id);
  const locked = copy && (await findLocked(tx, recording.id));
  if (!locked)
    return void (await loseData(context, { recordingId: recording.id, blobKey }, { code, text: reasons[code] }));
  const moved = keyOfObject(copy);
  const data = { blobKey: moved, location: await findLocation(tx, moved), siteId: copy.siteId };
  await tx.recording.update({ where: { id: recording.id }, data });
  await tx.recordingAttachment.updateMany({ where: { recordingId: recording.id }, data: { siteId: copy.siteId } });
}

/** Another object turned out to have the same content when it was imported, and is still there. */
async function findCopy(tx: Transaction, recordingId: string): Promise<BucketObjectModel | null> {
  const [copy] = await tx.$queryRaw<{ id: string }[]>`
    SELECT o.id FROM "BucketObject" o JOIN "ImportRequest" q ON q.id = o."requestId"
    WHERE q."recordingId" = ${recordingId} AND q.state = 'complete' AND q."isExisting" AND o."goneAtNs" IS NULL
    ORDER BY o.id LIMIT 1`;
  return copy ? tx.bucketObject.findUnique({ where: { id: copy.id } }) : null;
}
