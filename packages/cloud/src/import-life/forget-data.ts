import type { TransactionContext } from "../background/jobs/transaction-context.ts";
import type { Prisma } from "../db/generated/client.ts";
import type { EdgeFileModel } from "../db/generated/models.ts";
import type { Transaction } from "../db/transaction.ts";
import { recordDeletion } from "../recovery/record-deletion.ts";
import { cancelRequests } from "./change-request.ts";
import { edgeCopyOf } from "./edge-copy.ts";
import { nextImportStatus, noDamage, noFailure } from "./import-status.ts";
import type { LockedRecording } from "./lock-recording.ts";
import { publishRecording } from "./recording-events.ts";

/**
 * Removes the imported data, and the row too if there is no edge copy. A job removes the object after the commit. Copies that were rejected
 * as its duplicates are at the edge again as if they had never been requested, because the recording that they duplicated is gone.
 */
export async function forgetData(context: TransactionContext, recording: LockedRecording): Promise<void> {
  const { tx, jobs, nowNs } = context;
  const { id, blobKey, importId } = recording;
  const ended = await findEnd(tx, recording);
  await recordDeletion(tx, recording);
  await cancelRequests(context, [id]);
  await forgetThumbnails(context, id);
  for (const key of [blobKey, recording.indexKey, recording.nextIndexKey])
    if (key) await jobs.enqueue(tx, { name: "remove-object", data: { blobKey: key } });
  if (importId) await tx.import.updateMany({ where: { id: importId }, data: { deletedAtNs: nowNs } });
  for (const copy of await lockDuplicates(tx, id)) await forgetData(context, copy);
  const edgeFile = edgeCopyOf(recording, nowNs);
  const hasEdgeCopy = edgeFile !== null;
  const next = nextImportStatus(recording.importStatus, "deleteData", hasEdgeCopy);
  if (next === "removed") {
    await publishRecording(tx, id, { type: "recording.deleted", occurredAtNs: nowNs });
    await tx.recording.delete({ where: { id } });
    return;
  }
  const cleared = {
    importStatus: next,
    importId: null,
    importedAtNs: null,
    siteId: null,
    contentSha256: null,
    blobKey: null,
    siteObjectKey: null,
    location: null,
    indexKey: null,
    nextIndexKey: null,
    damage: null,
    verifiedAtNs: null,
    ...noDamage,
  };
  await tx.recording.update({ where: { id }, data: { ...cleared, ...noFailure } });
  if (ended && edgeFile) await takeBack(tx, ended, edgeFile);
  await tx.recordingAttachment.updateMany({ where: { recordingId: id }, data: { siteId: null } });
  await tx.recordingTopic.updateMany({ where: { recordingId: id }, data: unlisted });
}

/** Removes the pictures of data that is not there any more. */
export async function forgetThumbnails({ tx, jobs }: TransactionContext, recordingId: string): Promise<void> {
  const [thumbnails] = await tx.$queryRaw<{ blobKey: string | null }[]>`
    DELETE FROM "RecordingThumbnails" WHERE "recordingId" = ${recordingId} RETURNING "blobKey"`;
  if (thumbnails?.blobKey) await jobs.enqueue(tx, { name: "remove-object", data: { blobKey: thumbnails.blobKey } });
}

/** Finds the request by which the agent knows how the import ended. */
async function findEnd(tx: Transaction, { id: recordingId, importStatus }: LockedRecording) {
  if (importStatus !== "complete" && importStatus !== "failed") return null;
  const where: Prisma.ImportRequestWhereInput = { recordingId, source: "edge", state: { in: ["complete", "error"] } };
  return tx.importRequest.findFirst({ where, orderBy: { createdAtNs: "desc" }, select: { id: true } });
}

/** The agent learns that this end is obsolete. It may have given the file a new version id meanwhile. */
async function takeBack(tx: Transaction, { id }: { id: string }, { versionId, agentId }: EdgeFileModel): Promise<void> {
  await tx.importRequest.update({ where: { id }, data: { isAcknowledged: false, isOver: true, versionId, agentId } });
}

/** If another transaction locks them in another order at this moment, `withTransaction` repeats this one. */
async function lockDuplicates(tx: Transaction, originalId: string): Promise<LockedRecording[]> {
  const rows = await tx.$queryRaw<{ id: string }[]>`
    SELECT id FROM "Recording" WHERE "duplicateOfId" = ${originalId} ORDER BY id FOR UPDATE`;
  return tx.recording.findMany({ where: { id: { in: rows.map(({ id }) => id) } }, include: { edgeFile: true } });
}

/** Lists of topics show only those of imported recordings. */
export const unlisted = { importedProjectId: null, importedDeviceId: null, importedStartNs: null, importedEndNs: null };
