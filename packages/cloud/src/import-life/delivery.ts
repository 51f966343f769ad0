import { ingestJob } from "../background/jobs/ingest-job.ts";
import type { Moment, TransactionContext } from "../background/jobs/transaction-context.ts";
import { refuse } from "../core/errors.ts";
import type { ImportRequestModel, UploadModel } from "../db/generated/models.ts";
import type { Transaction } from "../db/transaction.ts";
import { abandonUploads, changeRequest } from "./change-request.ts";
import { nextImportStatus, type RecordingEvent } from "./import-status.ts";
import { lockRecording } from "./lock-recording.ts";
import { publishFailure } from "./publish-failure.ts";
import { uploadStatesBefore } from "./upload-state.ts";

/**
 * The bytes of an import are durable: the request becomes received and its processing is queued, in one transaction. It changes nothing if
 * the upload is stored already, because the reconciler or a repeat of the call may have been faster.
 */
export async function storeDelivery({ tx, jobs, nowNs }: TransactionContext, upload: UploadModel): Promise<void> {
  const { recordingId } = await tx.importRequest.findUniqueOrThrow({ where: { id: upload.requestId } });
  if (recordingId !== null) await lockRecording(tx, recordingId); // before its uploads, as everywhere
  const { count } = await tx.upload.updateMany({
    where: { id: upload.id, state: { in: uploadStatesBefore("store") } },
    data: { state: "stored", updatedAtNs: nowNs },
  });
  if (count === 0) {
    const { state } = await tx.upload.findUniqueOrThrow({ where: { id: upload.id } });
    if (state === "stored") return;
    refuse("RequestSuperseded", `upload ${upload.id} is no longer wanted`);
  }
  if (recordingId !== null) await moveRecording(tx, recordingId, { event: "stored" });
  const { blobKey, sizeBytes, announcedSha256 } = upload;
  const data = { blobKey, sizeBytes, announcedSha256, pipelineStage: "Waiting to be processed" };
  const received = await changeRequest({ tx, nowNs }, { id: upload.requestId, event: "store", data });
  if (!received) refuse("RequestSuperseded", `import request ${upload.requestId} is no longer wanted`);
  await jobs.enqueue(tx, {
    name: ingestJob(upload.sizeBytes),
    data: { orgId: upload.orgId, requestId: upload.requestId },
  });
}

export interface FailureReason {
  readonly code: string;
  readonly text: string;
  /** The imported recording that has the same content. */
  readonly duplicateOfId?: string | undefined;
}

interface Failure {
  readonly request: ImportRequestModel & { recordingId: string };
  readonly reason: FailureReason;
}

/** The agent cannot deliver, so the request ends with its reason. This is too late once all bytes are stored. */
export async function failDelivery(moment: Moment, { request, reason }: Failure): Promise<void> {
  const data = { errorCode: reason.code, errorText: reason.text, pipelineStage: "Delivery from the device" };
  const failed = request.state === "awaiting" && (await changeRequest(moment, { id: request.id, event: "fail", data }));
  if (!failed) refuse("RequestSuperseded", `import request ${request.id} is ${request.state}`);
  await abandonUploads(moment, [request.id]);
  await moveRecording(moment.tx, request.recordingId, { event: "fail", reason });
  await publishFailure(moment, failed);
}

/** Only a failure has a reason. */
type Occurrence =
  | { readonly event: Exclude<RecordingEvent, "fail">; readonly reason?: undefined }
  | { readonly event: "fail"; readonly reason: FailureReason };

/** Applies an event to a recording's import status, with the recording's row locked. */
export async function moveRecording(tx: Transaction, id: string, { event, reason }: Occurrence): Promise<void> {
  const recording = await lockRecording(tx, id);
  const next = nextImportStatus(recording.importStatus, event, recording.edgeFile !== null);
  if (next === recording.importStatus || next === "removed") return;
  await tx.recording.update({
    where: { id },
    data: {
      importStatus: next,
      failureCode: reason?.code ?? null,
      failureText: reason?.text ?? null,
      duplicateOfId: reason?.duplicateOfId ?? null,
    },
  });
}
