import type { ImportStatus } from "@downlink/protocol";
import type { Transaction } from "../db/transaction.ts";
import { cancelRequests } from "../ingest/change-request.ts";
import type { JobQueue } from "../jobs/queue.ts";
import { writeEvent } from "../outbox/outbox.ts";
import { nextImportStatus } from "./import-status.ts";
import type { LockedRecording } from "./lock-recording.ts";

interface Forget {
  readonly recording: LockedRecording;
  readonly jobs: JobQueue;
  readonly nowNs: bigint;
}

/** Drops what was imported, and the row too where no edge copy is left. The object goes after the commit, by a job. */
export async function forgetData(tx: Transaction, { recording, jobs, nowNs }: Forget): Promise<void> {
  const { id, orgId, projectId, blobKey } = recording;
  await cancelRequests(tx, { recordingId: id, nowNs });
  if (blobKey) await jobs.enqueue(tx, "remove-object", { blobKey });
  const next = nextImportStatus(recording.importStatus as ImportStatus, "deleteData", recording.edgeFile !== null);
  if (next !== "removed") {
    const cleared = {
      importStatus: next,
      importId: null,
      importedAtNs: null,
      siteId: null,
      contentSha256: null,
      blobKey: null,
    };
    await tx.recording.update({ where: { id }, data: { ...cleared, failureCode: null, failureText: null } });
    return;
  }
  await tx.recording.delete({ where: { id } });
  await writeEvent(tx, {
    type: "recording.deleted",
    orgId,
    projectId,
    occurredAtNs: nowNs,
    payload: { recording: { id } },
  });
}
