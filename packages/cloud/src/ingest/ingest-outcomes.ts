import type { ImportRequestModel } from "../db/generated/models.ts";
import { withTransaction } from "../db/transaction.ts";
import { writeEvent } from "../outbox/outbox.ts";
import { changeRequest } from "./change-request.ts";
import { moveRecording } from "./delivery.ts";
import { IngestFailure } from "./ingest-failure.ts";
import type { IngestDeps } from "./pipeline.ts";

const MAX_MISMATCHES = 3;
const MAX_DELAY_SECONDS = 300;

/** The file can never be imported: quarantined with its reason, its object kept; a retry is offered. */
export async function failImport(
  deps: IngestDeps,
  request: ImportRequestModel,
  { code, message }: IngestFailure,
): Promise<void> {
  const nowNs = deps.clock.nowNs();
  await withTransaction(deps.db, async (tx) => {
    const data = { errorCode: code, errorText: message, quarantinedAtNs: nowNs, nextAttemptAtNs: null };
    const failed = await changeRequest(tx, { id: request.id, event: "fail", nowNs, attempt: request.attempts, data });
    if (!failed) return;
    if (failed.recordingId) await moveRecording(tx, failed.recordingId, "fail", { code, text: message });
    if (failed.projectId === null) return;
    const payload = {
      recording: failed.recordingId && { id: failed.recordingId },
      requestId: failed.id,
      code,
      error: message,
    };
    await writeEvent(tx, {
      type: "recording.importFailed",
      orgId: failed.orgId,
      projectId: failed.projectId,
      occurredAtNs: nowNs,
      payload,
    });
  });
  deps.log.warn({ requestId: request.id, code }, `import failed: ${message}`);
}

/** Something that may heal went wrong: the same attempt again, later. */
export async function postpone(deps: IngestDeps, request: ImportRequestModel, error: Error): Promise<void> {
  const delaySeconds = Math.min(MAX_DELAY_SECONDS, 2 ** Math.min(request.attempts, 16)) * (0.5 + Math.random() / 2);
  const nowNs = deps.clock.nowNs();
  await withTransaction(deps.db, async (tx) => {
    const { count } = await tx.importRequest.updateMany({
      where: { id: request.id, attempts: request.attempts },
      data: { nextAttemptAtNs: nowNs + BigInt(Math.ceil(delaySeconds * 1e9)), updatedAtNs: nowNs },
    });
    if (count === 1)
      await deps.jobs.enqueue(tx, "ingest", { requestId: request.id }, { delaySeconds: Math.ceil(delaySeconds) });
  });
  deps.log.error({ err: error, requestId: request.id, attempt: request.attempts }, "import postponed");
}

/** The stored bytes are not what the agent had announced: these go, and the agent sends them anew; after three times it is an error. */
export async function redeliver(deps: IngestDeps, request: ImportRequestModel): Promise<void> {
  if (request.mismatches + 1 >= MAX_MISMATCHES)
    throw new IngestFailure(
      "ContentMismatch",
      `the stored bytes differed from the file's SHA-256 ${MAX_MISMATCHES} times`,
    );
  const nowNs = deps.clock.nowNs();
  await withTransaction(deps.db, async (tx) => {
    const data = {
      mismatches: request.mismatches + 1,
      blobKey: null,
      announcedSha256: null,
      pipelineStage: "Waiting for the device",
    };
    const sent = await changeRequest(tx, {
      id: request.id,
      event: "redeliver",
      nowNs,
      attempt: request.attempts,
      data,
    });
    if (!sent) return;
    await tx.upload.updateMany({
      where: { requestId: request.id, state: "stored" },
      data: { state: "abandoned", updatedAtNs: nowNs },
    });
    await deps.jobs.enqueue(tx, "remove-object", { blobKey: request.blobKey! });
    if (sent.recordingId) await moveRecording(tx, sent.recordingId, "redeliver");
  });
  deps.log.warn(
    { requestId: request.id },
    "the stored bytes differ from what the agent announced; asking for them anew",
  );
}
