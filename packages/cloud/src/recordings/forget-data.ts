import type { ImportStatus } from "@downlink/protocol";
import type { Transaction } from "../db/transaction.ts";
import { cancelRequests } from "../ingest/change-request.ts";
import type { JobQueue } from "../jobs/queue.ts";
import { edgeCopyOf } from "./edge-copy.ts";
import { nextImportStatus } from "./import-status.ts";
import type { LockedRecording } from "./lock-recording.ts";
import { tellOfRecording } from "./recording-events.ts";

interface Forget {
  readonly recording: LockedRecording;
  readonly jobs: JobQueue;
  readonly nowNs: bigint;
}

/** Drops what was imported, and the row too where no edge copy is left. The object goes after the commit, by a job. */
export async function forgetData(tx: Transaction, { recording, jobs, nowNs }: Forget): Promise<void> {
  const { id, blobKey, importId } = recording;
  await cancelRequests(tx, { recordingId: id, jobs, nowNs });
  for (const key of [blobKey, recording.indexKey, recording.nextIndexKey])
    if (key) await jobs.enqueue(tx, "remove-object", { blobKey: key });
  if (importId) await tx.import.updateMany({ where: { id: importId }, data: { deletedAtNs: nowNs } });
  const hasEdgeCopy = edgeCopyOf(recording, nowNs) !== null;
  const next = nextImportStatus(recording.importStatus as ImportStatus, "deleteData", hasEdgeCopy);
  if (next === "removed") {
    await tellOfRecording(tx, id, { type: "recording.deleted", occurredAtNs: nowNs });
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
    indexKey: null,
    nextIndexKey: null,
    damage: null,
  };
  await tx.recording.update({ where: { id }, data: { ...cleared, failureCode: null, failureText: null } });
  await tx.recordingAttachment.updateMany({ where: { recordingId: id }, data: { siteId: null } });
  await tx.recordingTopic.updateMany({ where: { recordingId: id }, data: unlisted });
}

/** In lists of topics are those of imported recordings. */
const unlisted = { importedProjectId: null, importedDeviceId: null, importedStartNs: null, importedEndNs: null };
