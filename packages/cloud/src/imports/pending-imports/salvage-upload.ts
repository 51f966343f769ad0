// A salvage of a stored file is an import request of its own, which names the damaged request, and not another state of it: that keeps its
// file, its reason and its key, and may be retried. While the salvage is being made it is listed only by its id, because the lists' indexes
// hold requests with bytes.

import type { api, Input, PendingImport } from "@downlink/protocol";
import type { Ctx } from "../../calls/context/context.ts";
import { requireRoom } from "../../calls/quotas/require-room.ts";
import type { Complete } from "../../core/complete.ts";
import { refuse } from "../../core/errors.ts";
import type { ImportRequestModel } from "../../db/generated/models.ts";
import { newId } from "../../db/ids.ts";
import { type Transaction, withTransaction } from "../../db/transaction.ts";
import { findRequester } from "../../organization/api-keys/find-requester.ts";
import { explainNotSalvageable } from "../ingest/salvageable-state.ts";
import { findRequest, showRequest } from "./find-request.ts";
import { salvageNameOf } from "./salvage-name.ts";

/** Requests what is readable of an uploaded file as an import request of its own; a repeat answers the same request. */
export async function salvageUpload(
  ctx: Ctx,
  { requestId }: Input<(typeof api.pendingImports)["salvage"]>,
): Promise<Complete<PendingImport>> {
  await findRequest(ctx, requestId);
  return withTransaction(ctx.db, async (tx) => showRequest(tx, ctx, await findOrRequest(tx, ctx, requestId)));
}

/** The call locks the request, so that of two at the same moment the second finds the first one's salvage. */
async function findOrRequest(tx: Transaction, ctx: Ctx, id: string): Promise<string> {
  await tx.$queryRaw`SELECT id FROM "ImportRequest" WHERE id = ${id} FOR UPDATE`;
  const { salvages, ...request } = await tx.importRequest.findUniqueOrThrow({
    where: { id },
    include: { salvages: { orderBy: { id: "desc" }, take: 1 } },
  });
  const [known] = salvages;
  if (known && (await isThere(tx, known))) return known.id;
  const obstacle = explainNotSalvageable(request);
  if (obstacle !== undefined) refuse("Conflict", obstacle);
  if (request.siteObjectKey === null) await requireFileAndRoom(tx, ctx, request);
  return requestSalvage(tx, ctx, request);
}

async function requireFileAndRoom(tx: Transaction, { blobs }: Ctx, { id, orgId, ...file }: ImportRequestModel) {
  if (!(await blobs.stat(file.blobKey!)))
    refuse("Conflict", `the file of import request ${id} is no longer stored; upload it again`);
  await requireRoom(tx, orgId, file.sizeBytes ?? 1n); // a salvage holds no more than the file
}

/**
 * Says whether the salvage is running, failed with its reason, or is imported; if its recording was deleted since, it may be made again.
 */
async function isThere(tx: Transaction, { state, recordingId }: ImportRequestModel): Promise<boolean> {
  if (state === "cancelled") return false;
  if (state !== "complete") return true;
  return (
    recordingId !== null && (await tx.recording.count({ where: { id: recordingId, importStatus: "complete" } })) > 0
  );
}

/** A recording of a device has its session before its data comes. */
async function findSession(tx: Transaction, { recordingId: id }: ImportRequestModel): Promise<string | null> {
  if (id === null) return null;
  const recording = await tx.recording.findUnique({ where: { id }, select: { sessionId: true } });
  return recording?.sessionId ?? null;
}

async function requestSalvage(tx: Transaction, ctx: Ctx, source: ImportRequestModel): Promise<string> {
  const { orgId, projectId, siteId, deviceId, deviceName, sessionKey, filename } = source;
  const nowNs = ctx.clock.nowNs();
  const sessionId = source.sessionId ?? (await findSession(tx, source));
  const target = { orgId, projectId, siteId, deviceId, deviceName, sessionId, sessionKey }; // without a key, because it is another recording
  const { id } = await tx.importRequest.create({
    data: {
      id: newId("req"),
      ...target,
      source: "salvage",
      salvageOfId: source.id,
      state: "awaiting",
      pipelineStage: "Waiting to be salvaged",
      filename: salvageNameOf(filename),
      requestedBy: await findRequester(tx, ctx),
      isAcknowledged: true,
      createdAtNs: nowNs,
      updatedAtNs: nowNs,
    },
  });
  await ctx.jobs.enqueue(tx, { name: "salvage", data: { orgId: ctx.caller.orgId, requestId: id } });
  return id;
}
