// A retry processes the kept object; if there is none, it asks the device under the same request. Attempts go on counting, because their
// number shows who owns the request; delays and the limit of attempts start over. Requesting an import again, or deleting its data, ends the
// earlier requests of the recording and removes their kept objects.

import type { api, Input, PendingImport } from "@downlink/protocol";
import { ingestJob } from "../../background/jobs/ingest-job.ts";
import { contextOf } from "../../background/jobs/transaction-context.ts";
import type { Ctx } from "../../calls/context/context.ts";
import type { Complete } from "../../core/complete.ts";
import { refuse } from "../../core/errors.ts";
import type { ImportRequestModel } from "../../db/generated/models.ts";
import { type Transaction, withTransaction } from "../../db/transaction.ts";
import { changeRequest, type RequestData, requestRedelivery } from "../../import-life/change-request.ts";
import { moveRecording } from "../../import-life/delivery.ts";
import { edgeCopyOf } from "../../import-life/edge-copy.ts";
import { findLocked, type LockedRecording } from "../../import-life/lock-recording.ts";
import { deliverySitesOf } from "../../organization/projects/primary-site.ts";
import { findRequest, showRequest } from "./find-request.ts";

/**
 * Starts a failed import again, from its stored bytes or else from the device; a running or complete one stays as it is. Attempts go on
 * counting, because their number shows who owns the request.
 */
export async function retryImport(
  ctx: Ctx,
  { requestId }: Input<(typeof api.pendingImports)["retry"]>,
): Promise<Complete<PendingImport>> {
  const found = await findRequest(ctx, requestId);
  return withTransaction(ctx.db, async (tx) => {
    const retried = await retry(tx, ctx, found);
    return showRequest(tx, ctx, retried.id);
  });
}

async function retry(tx: Transaction, ctx: Ctx, { id, recordingId }: ImportRequestModel): Promise<ImportRequestModel> {
  const recording = recordingId === null ? null : await findLocked(tx, recordingId);
  const request = await tx.importRequest.findUniqueOrThrow({ where: { id } });
  if (request.state === "cancelled") refuse("Conflict", `import request ${id} was cancelled; request the import again`);
  if (request.state !== "error") return request;
  if (request.source === "edge") requireFailed(request, recording);
  const isStored = request.siteObjectKey !== null || (await isHere(ctx, request));
  const retried = isStored ? await processAgain(tx, ctx, request) : await deliverAgain(tx, ctx, { request, recording });
  return retried ?? tx.importRequest.findUniqueOrThrow({ where: { id } }); // another call came first
}

async function isHere({ blobs }: Ctx, { blobKey }: ImportRequestModel): Promise<boolean> {
  return blobKey !== null && (await blobs.stat(blobKey)) !== undefined;
}

/** A recording has only one import at a time. */
function requireFailed({ id }: ImportRequestModel, recording: LockedRecording | null): void {
  if (!recording) refuse("Conflict", `the recording of import request ${id} was deleted`);
  if (recording.importStatus !== "failed")
    refuse("Conflict", `recording ${recording.id} is ${recording.importStatus}: its import was requested again`);
}

/** Returns the columns that make the request forget the failure. */
function forgetFailure({ attempts }: ImportRequestModel): RequestData {
  return {
    errorCode: null,
    errorText: null,
    quarantinedAtNs: null,
    nextAttemptAtNs: null,
    mismatches: 0,
    attemptsBefore: attempts,
  };
}

async function processAgain(
  tx: Transaction,
  ctx: Ctx,
  request: ImportRequestModel,
): Promise<ImportRequestModel | undefined> {
  const { id, orgId, source, recordingId } = request;
  const isAcknowledged = source !== "edge"; // the agent has to hear of the new end too
  const data = { ...forgetFailure(request), isAcknowledged, pipelineStage: "Waiting to be processed" };
  const retried = await changeRequest(contextOf(tx, ctx), { id, event: "retry", data });
  if (!retried) return undefined;
  if (recordingId !== null) await moveRecording(tx, recordingId, { event: "retry" });
  // A self-hosted site finds the file among its work.
  if (request.siteObjectKey === null)
    await ctx.jobs.enqueue(tx, { name: ingestJob(request.sizeBytes), data: { orgId, requestId: id } });
  return retried;
}

interface Failed {
  readonly request: ImportRequestModel;
  readonly recording: LockedRecording | null;
}

/** The bytes are gone, but the device may still have them. */
async function deliverAgain(
  tx: Transaction,
  ctx: Ctx,
  { request, recording }: Failed,
): Promise<ImportRequestModel | undefined> {
  const { id } = request;
  if (request.source === "salvage") return salvageAgain(tx, ctx, request);
  if (!recording) refuse("Conflict", `the file of import request ${id} is no longer stored; upload it again`);
  const edgeFile = edgeCopyOf(recording, ctx.clock.nowNs());
  if (!edgeFile)
    refuse(
      "Conflict",
      `the file of import request ${id} is no longer stored, and the edge copy of ${recording.id} is gone`,
    );
  const { agentId, versionId } = edgeFile;
  const siteOf = await deliverySitesOf(tx, recording.orgId, [recording.projectId]);
  const data = {
    ...forgetFailure(request),
    agentId,
    versionId,
    siteId: siteOf(recording.projectId),
    isAcknowledged: false,
  };
  const asked = await requestRedelivery(contextOf(tx, ctx), { id, data });
  if (asked) await moveRecording(tx, recording.id, { event: "request" });
  return asked;
}

/** Nothing of the salvage is stored, but the file that it is made of may be. */
async function salvageAgain(
  tx: Transaction,
  ctx: Ctx,
  request: ImportRequestModel,
): Promise<ImportRequestModel | undefined> {
  const { id, orgId } = request;
  const data = { ...forgetFailure(request), pipelineStage: "Waiting to be salvaged" };
  const asked = await requestRedelivery(contextOf(tx, ctx), { id, data });
  if (asked) await ctx.jobs.enqueue(tx, { name: "salvage", data: { orgId, requestId: id } });
  return asked;
}
