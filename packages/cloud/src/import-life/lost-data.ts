// The data of a recording is lost where the store says that it has no such object. The recording keeps what it knew of it: an object
// that is back is the same one, because names are never used again. Meanwhile the edge is asked for the file.

import type { TransactionContext } from "../background/jobs/transaction-context.ts";
import { cancelRequests } from "./change-request.ts";
import { edgeCopyOf } from "./edge-copy.ts";
import { unlisted } from "./forget-data.ts";
import { LOST_PRIORITY } from "./import-request-rows.ts";
import { nextImportStatus, noFailure } from "./import-status.ts";
import { findLocked, type LockedRecording } from "./lock-recording.ts";
import { queueImport } from "./queue-imports.ts";

interface Loss {
  readonly recordingId: string;
  /** The key of the object that is missing. */
  readonly blobKey: string;
  /** Why, for programs and for people, if it is not our own store that lacks it. */
  readonly code?: string;
  readonly text?: string;
}

export const OBJECT_MISSING = "ObjectMissing";
const TEXT = "the object store does not have the data; it is asked for again where the edge still has the file";

/** The recording says that its data is lost, and is asked for again where the edge has the file. Whatever was imported since stays. */
export async function loseData(context: TransactionContext, loss: Loss): Promise<boolean> {
  const { recordingId, blobKey, code = OBJECT_MISSING, text = TEXT } = loss;
  const recording = await findLocked(context.tx, recordingId);
  return recording?.blobKey === blobKey && noteLoss(context, recording, { code, text });
}

/** Says of a locked recording that its data is lost, and why. Returns false if it had none. */
export async function noteLoss(
  context: TransactionContext,
  recording: LockedRecording,
  { code, text }: { readonly code: string; readonly text: string },
): Promise<boolean> {
  const { tx } = context;
  const recordingId = recording.id;
  const importStatus = nextImportStatus(recording.importStatus, "objectLost", recording.edgeFile !== null);
  if (importStatus === recording.importStatus) return false;
  const data = { importStatus, failureCode: code, failureText: text };
  await tx.recording.update({ where: { id: recordingId }, data });
  await tx.recordingAttachment.updateMany({ where: { recordingId }, data: { siteId: null } });
  await tx.recordingTopic.updateMany({ where: { recordingId }, data: unlisted });
  await askAgain(context, { ...recording, ...data });
  return true;
}

/** Last of all, where nothing else is on its way. */
export async function askAgain(context: TransactionContext, recording: LockedRecording): Promise<void> {
  if (recording.importStatus !== "failed" || !edgeCopyOf(recording, context.nowNs)) return;
  await queueImport(context, { recordingId: recording.id, priority: LOST_PRIORITY });
}

/** The object is there again: so is the data, and no agent needs to send it. */
export async function findDataAgain(context: TransactionContext, recording: LockedRecording): Promise<void> {
  const { tx } = context;
  const { id, siteId, edgeFile } = recording;
  await cancelRequests(context, [id]);
  const importStatus = nextImportStatus(recording.importStatus, "adopted", edgeFile !== null);
  await tx.recording.update({ where: { id }, data: { importStatus, foundAgainAtNs: context.nowNs, ...noFailure } });
  await tx.recordingAttachment.updateMany({ where: { recordingId: id }, data: { siteId } });
  await tx.$executeRaw`
    UPDATE "RecordingTopic" t SET "importedProjectId" = r."projectId", "importedDeviceId" = r."deviceId",
      "importedStartNs" = r."startNs", "importedEndNs" = r."endNs"
    FROM "Recording" r WHERE r.id = t."recordingId" AND r.id = ${id}`;
}
