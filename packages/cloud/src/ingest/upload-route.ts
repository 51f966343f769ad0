import type { Context, Hono } from "hono";
import { verifyLink } from "../blobs/signed-link.ts";
import type { Deps } from "../context.ts";
import { requestBody } from "../data-plane/request-body.ts";
import type { ImportRequestModel, UploadModel } from "../db/generated/models.ts";
import { newId } from "../db/ids.ts";
import { withTransaction } from "../db/transaction.ts";
import type { Env } from "../http/env.ts";
import { ApiError, notFound } from "../http/errors.ts";
import { contentLength, requireOctetStream } from "../http/octet-stream.ts";
import { storeDelivery } from "./delivery.ts";

export function uploadPath(requestId: string): string {
  return `/data-plane/uploads/${requestId}`;
}

/**
 * `PUT link`: takes one file, with a Content-Length or chunked. A body that breaks off leaves nothing behind, and the link stays
 * good; a used link is 409. spec: Recordings/Upload
 */
export function uploadRoute(app: Hono<Env>, deps: Deps): void {
  app.put("/data-plane/uploads/:requestId", async (c) => {
    const nowMs = Number(deps.clock.nowNs() / 1_000_000n);
    verifyLink(deps.signer, { method: "PUT", path: c.req.path, query: new URL(c.req.url).searchParams, nowMs });
    requireOctetStream(c);
    await receiveFile(c, deps, c.req.param("requestId"));
    return c.json({ requestId: c.req.param("requestId") });
  });
}

async function receiveFile(c: Context<Env>, deps: Deps, requestId: string): Promise<void> {
  const request = await deps.db.prisma.importRequest.findUnique({ where: { id: requestId } });
  if (!request) notFound(`import request ${requestId}`);
  if (request.state !== "awaiting") throw linkUsed(requestId);
  const upload = await openStream(deps, request);
  const expectedBytes = contentLength(c);
  const { sizeBytes } = await deps.blobs.put(upload.blobKey, requestBody(c), {
    expectedBytes,
    signal: c.req.raw.signal,
  });
  const delivered = withTransaction(deps.db, (tx) =>
    storeDelivery(tx, {
      upload: { ...upload, sizeBytes: BigInt(sizeBytes) },
      jobs: deps.jobs,
      nowNs: deps.clock.nowNs(),
    }),
  );
  await delivered.catch(async (error: unknown) => {
    if (!(error instanceof ApiError) || error.code !== "RequestSuperseded") throw error;
    await deps.blobs.delete(upload.blobKey); // another PUT to the same link was first
    throw linkUsed(requestId);
  });
}

/** Every PUT writes to a key of its own; the first that is whole wins the request. */
async function openStream(deps: Deps, request: ImportRequestModel): Promise<UploadModel> {
  const id = newId("upl");
  const nowNs = deps.clock.nowNs();
  const blobKey = `${request.orgId}/${id}`;
  const times = { createdAtNs: nowNs, updatedAtNs: nowNs };
  return deps.db.prisma.upload.create({
    data: { id, orgId: request.orgId, requestId: request.id, kind: "stream", blobKey, state: "open", ...times },
  });
}

function linkUsed(requestId: string): ApiError {
  return new ApiError("LinkUsed", `the upload link of ${requestId} was used already; ask for a new one`);
}
