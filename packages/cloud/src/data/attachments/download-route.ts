import { apiKey } from "@downlink/protocol";
import type { Hono } from "hono";
import { noteDownload } from "../../calls/audit-log/note-sent.ts";
import type { Env } from "../../calls/connections/env.ts";
import type { Ctx, Deps } from "../../calls/context/context.ts";
import { sendBlob } from "../../calls/data-plane/download.ts";
import { type DataPlaneDeps, logBreak } from "../../calls/data-plane/link-request.ts";
import { openMadeLink } from "../../calls/data-plane/made-link.ts";
import { sliceOf } from "../../calls/data-plane/slice-of.ts";
import { openContext } from "../../calls/serve/serve.ts";
import { throwNotFound } from "../../core/errors.ts";
import { DOWNLOAD_LIFE_MS, makeLink } from "../../core/signed-link.ts";
import { findServingSite } from "../../store/site-keys/find-serving-site.ts";
import { fingerprintOf } from "./attachment-rows.ts";
import { findAttachment, type StoredAttachment } from "./find-attachment.ts";

const PATH = "/data-plane/attachments";
/** Names and types come from files and may have any length, but a link has to fit the header lines of every client. */
const MAX_TEXT_CHARACTERS = 255;

const access = apiKey("recordings.list", "projects");

/** `GET /v1/recording-attachments/{id}/download`: 302 to a link that needs no credential. spec: Attachments/Download */
export function attachmentRoute(app: Hono<Env>, deps: Deps): void {
  app.get("/v1/recording-attachments/:id/download", async (c) => {
    const ctx = await openContext(c, deps, access);
    const row = await findAttachment(ctx, c.req.param("id"));
    const what = { name: row.name.slice(0, MAX_TEXT_CHARACTERS), recordingId: row.recordingId };
    await noteDownload(ctx, {
      operation: "attachments.download",
      resourceKind: "attachment",
      resourceId: row.id,
      what,
    });
    c.header("Cache-Control", "no-store");
    return c.redirect(await attachmentLink(ctx, row), 302);
  });
}

/** Makes a link that carries all that the download needs. A name that is too long keeps its end, which says what the file is. */
async function attachmentLink(deps: Ctx, row: StoredAttachment): Promise<string> {
  const path = `${PATH}/${row.id}`;
  const { blobKey, siteObjectKey } = row.recording;
  const { db, clock } = deps;
  const site = siteObjectKey === null ? undefined : await findServingSite({ tx: db.prisma, clock }, row.siteId!);
  const claims = {
    blobKey: blobKey ?? siteObjectKey ?? throwNotFound(`the data of attachment ${row.id}`),
    offset: String(row.dataOffset),
    sizeBytes: String(row.sizeBytes),
    etag: fingerprintOf(row),
    mediaType: row.mediaType.slice(0, MAX_TEXT_CHARACTERS),
    fileName: row.name.slice(-MAX_TEXT_CHARACTERS) || row.id,
  };
  return makeLink({ ...deps, ...site }, { method: "GET", path, claims, lifeMs: DOWNLOAD_LIFE_MS }).link;
}

/** Serves the link itself: the attachment's bytes out of the stored recording, whole or in ranges. */
export function attachmentDownloadRoute(app: Hono<Env>, deps: DataPlaneDeps): void {
  app.get(`${PATH}/:id`, async (c) => {
    using link = await openMadeLink(c, deps);
    const { claims, gone } = link;
    const recording = await deps.blobs.open(claims.blobKey!);
    const slice = { offset: Number(claims.offset), sizeBytes: Number(claims.sizeBytes) };
    return await sendBlob(c, sliceOf(recording, slice), {
      etag: claims.etag!,
      mediaType: claims.mediaType!,
      fileName: claims.fileName!,
      controller: gone,
      onFailure: logBreak(c, deps),
    });
  });
}
