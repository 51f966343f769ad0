import { ingestJob } from "../../background/jobs/ingest-job.ts";
import type { TransactionContext } from "../../background/jobs/transaction-context.ts";
import type { BucketObjectModel } from "../../db/generated/models.ts";
import type { Transaction } from "../../db/transaction.ts";
import { changeRequest } from "../../import-life/change-request.ts";
import { moveRecording } from "../../import-life/delivery.ts";
import { findLocked } from "../../import-life/lock-recording.ts";
import { findDataAgain } from "../../import-life/lost-data.ts";
import type { FoundObject } from "../../store/blobs/buckets/customer-bucket.ts";
import { decideOn, type Seen } from "./decide-on.ts";
import { lossCodes } from "./lose-object.ts";
import { keyOfObject } from "./object-location.ts";
import type { SiteWithPolicy } from "./site-with-policy.ts";

/** Finds the object that the bucket had before under the name, with the very bytes that it has now. */
export async function findReturned(
  tx: Transaction,
  { siteId, name }: BucketObjectModel,
  { versionId, etag, sizeBytes }: FoundObject,
): Promise<BucketObjectModel | null> {
  const where = { siteId, name, versionId, etag, sizeBytes, goneAtNs: { not: null } };
  return tx.bucketObject.findFirst({ where, orderBy: { goneAtNs: "desc" } });
}

/** Continues what was done with the object before it disappeared: its recording is available again, or its import goes on. */
export async function returnObject(context: TransactionContext, site: SiteWithPolicy, seen: Seen): Promise<void> {
  const { tx } = context;
  const { object } = seen;
  const request = object.requestId && (await tx.importRequest.findUnique({ where: { id: object.requestId } }));
  if (!request) return decideOn(context, site, seen);
  const found = await tx.recording.findUnique({ where: { blobKey: keyOfObject(object) }, select: { id: true } });
  if (found) return returnRecording(context, found.id);
  if (request.state !== "error" || !lossCodes.some((code) => code === request.errorCode)) return;
  const { jobs, nowNs } = context;
  if (request.recordingId !== null) await moveRecording(tx, request.recordingId, { event: "retry" });
  const data = {
    errorCode: null,
    errorText: null,
    pipelineStage: "Waiting to be processed",
    attemptsBefore: request.attempts,
  };
  const again = await changeRequest({ tx, nowNs }, { id: request.id, event: "retry", data });
  const { orgId, sizeBytes } = request;
  if (again) await jobs.enqueue(tx, { name: ingestJob(sizeBytes), data: { orgId, requestId: request.id } });
}

async function returnRecording(context: TransactionContext, id: string): Promise<void> {
  const { tx } = context;
  const recording = await findLocked(tx, id);
  if (recording?.importStatus !== "failed" || !lossCodes.some((code) => code === recording.failureCode)) return;
  const { projectId, key } = recording;
  const isTaken =
    key !== null && (await tx.recording.findFirst({ where: { projectId, key, importStatus: "complete" } }));
  if (!isTaken) await findDataAgain(context, recording);
}
