import { apiKey } from "@downlink/protocol";
import type { Hono } from "hono";
import { noteDownload } from "../../calls/audit-log/note-sent.ts";
import type { Env } from "../../calls/connections/env.ts";
import type { Ctx, Deps } from "../../calls/context/context.ts";
import { sendBlob } from "../../calls/data-plane/download.ts";
import { type DataPlaneDeps, logBreak } from "../../calls/data-plane/link-request.ts";
import { openMadeLink } from "../../calls/data-plane/made-link.ts";
import { openContext } from "../../calls/serve/serve.ts";
import { DOWNLOAD_LIFE_MS, makeLink } from "../../core/signed-link.ts";
import { findServingSite } from "../../store/site-keys/find-serving-site.ts";
import { findFile, type StoredFile } from "./find-file.ts";

const PATH = "/data-plane/import-files";
/** A name may have any length, but a link has to fit the header lines of every client. */
const MAX_NAME_CHARACTERS = 255;

const access = apiKey("data.stream", "projects");

/** `GET /v1/data/pending-imports/{requestId}/file`: 302 to a link that needs no credential. */
export function importFileRoute(app: Hono<Env>, deps: Deps): void {
  app.get("/v1/data/pending-imports/:requestId/file", async (c) => {
    const ctx = await openContext(c, deps, access);
    const file = await findFile(ctx, c.req.param("requestId"));
    const { requestId: resourceId, filename } = file;
    await noteDownload(ctx, {
      operation: "pendingImports.download",
      resourceKind: "importFile",
      resourceId,
      what: { filename },
    });
    c.header("Cache-Control", "no-store");
    return c.redirect(await fileLink(ctx, file), 302);
  });
}

/** Makes a link that carries all that the download needs. A name that is too long keeps its end, which says what the file is. */
async function fileLink(deps: Ctx, { requestId, filename, blobKey, etag, siteId }: StoredFile): Promise<string> {
  const { db, clock } = deps;
  const site = siteId === undefined ? undefined : await findServingSite({ tx: db.prisma, clock }, siteId);
  const path = `${PATH}/${requestId}`;
  const name = filename.slice(filename.lastIndexOf("/") + 1);
  const claims = { blobKey, etag, fileName: name.slice(-MAX_NAME_CHARACTERS).toWellFormed() || requestId };
  return makeLink({ ...deps, ...site }, { method: "GET", path, claims, lifeMs: DOWNLOAD_LIFE_MS }).link;
}

/**
 * Serves the link itself: the stored file, whole or in ranges. The bytes are unchecked, so their media type is only that of plain bytes.
 */
export function importFileDownloadRoute(app: Hono<Env>, deps: DataPlaneDeps): void {
  app.get(`${PATH}/:requestId`, async (c) => {
    using link = await openMadeLink(c, deps);
    const { claims, gone } = link;
    return await sendBlob(c, await deps.blobs.open(claims.blobKey!), {
      etag: claims.etag!,
      mediaType: "application/octet-stream",
      fileName: claims.fileName!,
      controller: gone,
      onFailure: logBreak(c, deps),
    });
  });
}
