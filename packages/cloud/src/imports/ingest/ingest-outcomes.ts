import { removeIndex } from "../../background/indexing/index-key.ts";
import type { ImportRequestModel } from "../../db/generated/models.ts";
import { type Transaction, withTransaction } from "../../db/transaction.ts";
import { changeRequest, requestRedelivery } from "../../import-life/change-request.ts";
import { moveRecording } from "../../import-life/delivery.ts";
import { findLocked } from "../../import-life/lock-recording.ts";
import { publishFailure } from "../../import-life/publish-failure.ts";
import type { IngestDeps } from "./ingest-deps.ts";
import { IngestError } from "./ingest-failure.ts";

const MAX_MISMATCHES = 3;

/**
 * The file can never be imported: it is quarantined with its reason, its object is kept, and a retry is possible. The bytes of a duplicate
 * are removed, because they are stored already. Returns false and does nothing if the data of the first recording was deleted at this
 * moment: then the import must be tried again.
 */
export async function quarantineImport(
  deps: IngestDeps,
  request: ImportRequestModel,
  { code, message, duplicateOfId }: IngestError,
): Promise<boolean> {
  const nowNs = deps.clock.nowNs();
  const isDecided = await withTransaction(deps.db, async (tx) => {
    if (duplicateOfId === undefined) await takeTurn(tx, request);
    else if (!(await lockWithOriginal(tx, request, duplicateOfId))) return false;
    await removeIndex({ tx, jobs: deps.jobs }, request);
    const kept = duplicateOfId === undefined ? {} : { blobKey: null, siteObjectKey: null };
    const ended = { ...kept, quarantinedAtNs: nowNs, nextAttemptAtNs: null, indexKey: null };
    const data = { errorCode: code, errorText: message, ...ended };
    const failed = await changeRequest(
      { tx, nowNs },
      { id: request.id, event: "fail", attempt: request.attempts, data },
    );
    if (!failed) return true;
    if (duplicateOfId !== undefined && request.blobKey)
      await deps.jobs.enqueue(tx, { name: "remove-object", data: { blobKey: request.blobKey } });
    const reason = { code, text: message, duplicateOfId };
    if (failed.recordingId) await moveRecording(tx, failed.recordingId, { event: "fail", reason });
    await publishFailure({ tx, nowNs }, failed);
    return true;
  });
  if (isDecided) deps.log.warn({ requestId: request.id, code }, `import failed: ${message}`);
  return isDecided;
}

/**
 * The stored bytes are not the ones that the agent had announced: they are removed, and the agent sends them again; after three times this
 * is an error.
 */
export async function redeliver(deps: IngestDeps, request: ImportRequestModel): Promise<void> {
  if (request.source === "upload")
    throw new IngestError(
      "ChangedFile",
      "the bytes that came do not have the SHA-256 that was announced: the file was changed while it was sent; upload it again",
    );
  const mismatches = request.mismatches + 1;
  if (mismatches >= MAX_MISMATCHES)
    throw new IngestError(
      "ContentMismatch",
      `the stored bytes differed from the file's SHA-256 ${MAX_MISMATCHES} times`,
    );
  const nowNs = deps.clock.nowNs();
  await withTransaction(deps.db, async (tx) => {
    await takeTurn(tx, request);
    const { id, attempts: attempt, recordingId } = request;
    await removeIndex({ tx, jobs: deps.jobs }, request);
    const data = { mismatches, indexKey: null };
    const sent = await requestRedelivery({ tx, jobs: deps.jobs, nowNs }, { id, attempt, data });
    if (sent && recordingId !== null) await moveRecording(tx, recordingId, { event: "redeliver" });
  });
  deps.log.warn(
    { requestId: request.id },
    "the stored bytes differ from what the agent announced; asking for them again",
  );
}

/** Says whether the first recording is still imported: otherwise no byte of its duplicate may be removed. */
async function lockWithOriginal(
  tx: Transaction,
  { recordingId }: ImportRequestModel,
  originalId: string,
): Promise<boolean> {
  const ids = [originalId, ...(recordingId === null ? [] : [recordingId])];
  await tx.$queryRaw`SELECT id FROM "Recording" WHERE id = ANY(${ids}) ORDER BY id FOR UPDATE`;
  const original = await tx.recording.findUnique({ where: { id: originalId }, select: { importStatus: true } });
  return original?.importStatus === "complete";
}

/** Every change of a recording or its requests locks the recording's row first. */
async function takeTurn(tx: Transaction, { recordingId }: ImportRequestModel): Promise<void> {
  if (recordingId !== null) await findLocked(tx, recordingId);
}
