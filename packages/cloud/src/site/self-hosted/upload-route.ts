import type { Context, Hono } from "hono";
import type { Env } from "../../calls/connections/env.ts";
import { newGoneSignal } from "../../calls/connections/new-gone-signal.ts";
import { openLink } from "../../calls/data-plane/link-request.ts";
import { requestBody } from "../../calls/data-plane/request-body.ts";
import { contentLength, requireOctetStream } from "../../calls/serve/octet-stream.ts";
import { ApiError } from "../../core/errors.ts";
import { verifyLink } from "../../core/signed-link.ts";
import { UPLOAD_PATH } from "../../imports/ingest/upload-link.ts";
import { beginFile, dropFile, findReceived, keepFile } from "./received-files.ts";
import type { SiteDeps } from "./site-deps.ts";

type UploadDeps = Pick<SiteDeps, "blobs" | "signer" | "clock" | "turns" | "log">;

/**
 * Serves `PUT link` at a site: takes the file of one request, once. It is answered once the file and its note are durable; the control
 * plane learns of it afterwards, whenever it can be reached.
 */
export function siteUploadRoute(app: Hono<Env>, deps: UploadDeps, onReceived: () => void): void {
  app.put(`${UPLOAD_PATH}/:requestId`, async (c) => {
    const { org, request } = openLink(c, deps, verifyLink);
    requireOctetStream(c, { orNone: true });
    const requestId = c.req.param("requestId");
    if (await findReceived(deps.blobs, requestId)) throw linkUsed(requestId);
    using _turn = await deps.turns.uploads.take({ owner: org! }, () => newGoneSignal(c));
    await receive(c, deps, { requestId, orgId: org!, request: request! });
    onReceived();
    return c.json({ requestId });
  });
}

interface Target {
  readonly requestId: string;
  readonly orgId: string;
  /** The control plane's signed description of the request. */
  readonly request: string;
}

async function receive(c: Context<Env>, deps: UploadDeps, target: Target): Promise<void> {
  const key = await beginFile(deps.blobs, target);
  const { requestId, request } = target;
  try {
    const options = { expectedBytes: contentLength(c), signal: c.req.raw.signal };
    const { sizeBytes } = await deps.blobs.put(key, requestBody(c), options);
    if (await keepFile(deps.blobs, { requestId, key, sizeBytes, request })) return;
  } catch (error) {
    await dropUnlessKept(deps, requestId, key);
    throw error;
  }
  throw linkUsed(requestId);
}

/** A note whose write failed may have been written all the same: then the file stays, and its sender may find the link used. */
async function dropUnlessKept({ blobs, log }: UploadDeps, requestId: string, key: string): Promise<void> {
  try {
    if ((await findReceived(blobs, requestId))?.key !== key) await dropFile(blobs, key);
  } catch (error) {
    log.warn({ err: error, requestId }, "a broken upload is left to the next start");
  }
}

function linkUsed(requestId: string): ApiError {
  return new ApiError("LinkUsed", `the upload link of ${requestId} was used already; ask for a new one`);
}
