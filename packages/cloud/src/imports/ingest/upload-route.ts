// Upload links do need the database, because it decides which delivery of a request was first. Every PUT writes to a key of its own and the
// first whole one counts, so a broken one leaves nothing and blocks no other.

import type { Context, Hono } from "hono";
import { contextOf } from "../../background/jobs/transaction-context.ts";
import type { Env } from "../../calls/connections/env.ts";
import { newGoneSignal } from "../../calls/connections/new-gone-signal.ts";
import type { Deps } from "../../calls/context/context.ts";
import { openMadeLink } from "../../calls/data-plane/made-link.ts";
import { requestBody } from "../../calls/data-plane/request-body.ts";
import { limitToRoom, requireRoom } from "../../calls/quotas/require-room.ts";
import { contentLength, requireOctetStream } from "../../calls/serve/octet-stream.ts";
import { ApiError, throwNotFound } from "../../core/errors.ts";
import type { ImportRequestModel, UploadModel } from "../../db/generated/models.ts";
import { withTransaction } from "../../db/transaction.ts";
import { storeDelivery } from "../../import-life/delivery.ts";
import { writeBegun } from "../../keeping/manifests/write-manifests.ts";
import { endStream, noteReceived, openStream, showThatStreamLives } from "./stream-uploads.ts";
import { UPLOAD_PATH } from "./upload-link.ts";

/**
 * Serves `PUT link`, which takes one file, with a Content-Length or chunked. A body that breaks off leaves nothing behind, and the link
 * stays valid; a used link is 409. spec: Recordings/Upload
 */
export function uploadRoute(app: Hono<Env>, deps: Deps): void {
  app.put(`${UPLOAD_PATH}/:requestId`, async (c) => {
    using link = await openMadeLink(c, deps);
    requireOctetStream(c, { orNone: true });
    const signal = AbortSignal.any([newGoneSignal(c), link.gone.signal]);
    await receiveFile(c, deps, { requestId: c.req.param("requestId"), signal });
    return c.json({ requestId: c.req.param("requestId") });
  });
}

interface Received {
  readonly requestId: string;
  /** Aborted when the sender goes away or the link ends. */
  readonly signal: AbortSignal;
}

async function receiveFile(c: Context<Env>, deps: Deps, { requestId, signal }: Received): Promise<void> {
  const request = await findRequest(deps, requestId);
  if (request.state !== "awaiting") throw linkUsed(requestId);
  using _turn = await deps.turns.uploads.take({ owner: request.orgId }, () => signal);
  const length = contentLength(c);
  await requireRoom(deps.db.prisma, request.orgId, BigInt(length ?? 1));
  const { id, orgId } = request;
  const sizeBytes = length === undefined ? null : BigInt(length);
  const upload = await openStream(deps.db.prisma, { id, orgId, sizeBytes }, deps.clock.nowNs());
  const stopShowing = showThatStreamLives(deps, upload.id);
  try {
    await writeBegun(deps, upload.id);
    const sizeBytes = await storeBody(c, deps, { upload, signal });
    await deliver(deps, { ...upload, sizeBytes: BigInt(sizeBytes) });
  } finally {
    stopShowing();
  }
}

interface Storing extends Pick<Received, "signal"> {
  readonly upload: UploadModel;
}

async function storeBody(c: Context<Env>, deps: Deps, { upload, signal }: Storing): Promise<number> {
  const options = { expectedBytes: contentLength(c), signal };
  try {
    return (await deps.blobs.put(upload.blobKey, bodyWithinRoom(c, deps, upload), options)).sizeBytes;
  } catch (error) {
    await endStream(deps, upload);
    throw error;
  }
}

/** A declared length was checked before, and Node does not let the sender exceed it. */
function bodyWithinRoom(c: Context<Env>, deps: Deps, { id, orgId, sizeBytes }: UploadModel): AsyncIterable<Uint8Array> {
  const body = requestBody(c);
  if (sizeBytes !== null) return body;
  return limitToRoom(body, { db: deps.db.prisma, orgId, note: (bytes) => noteReceived(deps, id, bytes) });
}

/** A commit that failed may have happened all the same: the object is removed only after a refusal. */
async function deliver(deps: Deps, upload: UploadModel): Promise<void> {
  try {
    await withTransaction(deps.db, (tx) => storeDelivery(contextOf(tx, deps), upload));
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== "RequestSuperseded") throw error;
    await endStream(deps, upload);
    const { id, state } = await findRequest(deps, upload.requestId);
    throw state === "awaiting" ? tookTooLong(id) : linkUsed(id);
  }
}

async function findRequest(deps: Deps, id: string): Promise<ImportRequestModel> {
  return (await deps.db.prisma.importRequest.findUnique({ where: { id } })) ?? throwNotFound(`import request ${id}`);
}

function linkUsed(requestId: string): ApiError {
  return new ApiError("LinkUsed", `the upload link of ${requestId} was used already; ask for a new one`);
}

/** The process was suspended for so long that the upload was taken for dead. */
function tookTooLong(requestId: string): ApiError {
  return new ApiError("Unavailable", `the upload of ${requestId} was given up; send the file again`, {
    retryAfterSeconds: 1,
  });
}
