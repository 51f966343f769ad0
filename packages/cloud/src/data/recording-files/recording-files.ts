// The file of a recording is what was uploaded, byte for byte: exports write another one, with the same messages. It is not read before it
// is sent, so a reader compares the SHA-256; where the stored bytes are known to be others, nothing is sent.

import { api, type Input, type Output } from "@downlink/protocol";
import type { Hono } from "hono";
import { noteDownload, noteSent } from "../../calls/audit-log/note-sent.ts";
import type { Env } from "../../calls/connections/env.ts";
import type { Ctx, Deps } from "../../calls/context/context.ts";
import { fileNameOf, linkStoredFile, type StoredFile } from "../../calls/data-plane/stored-file.ts";
import type { Handlers } from "../../calls/serve/handlers.ts";
import { parseInput } from "../../calls/serve/parse.ts";
import { openContext } from "../../calls/serve/serve.ts";
import type { Complete } from "../../core/complete.ts";
import { ApiError } from "../../core/errors.ts";
import { DOWNLOAD_LIFE_MS } from "../../core/signed-link.ts";
import type { RecordingModel } from "../../db/generated/models.ts";
import { describeMissing, missingOne } from "../exports/find-missing.ts";
import { findRecording } from "../recordings/find-recording.ts";

type Contract = typeof api.recordingFiles;
type Ref = Input<Contract["link"]>;

const HOUR_MS = 3_600_000;

export const recordingFiles: Handlers<Contract> = { link: linkFile };

/** `GET /v1/recordings/{keyOrId}/file`: 302 to a link that needs no credential. */
export function recordingFileRoute(app: Hono<Env>, deps: Deps): void {
  app.get("/v1/recordings/:keyOrId/file", async (c) => {
    const ctx = await openContext(c, deps, api.recordingFiles.link.access);
    const ref = await parseInput(c, api.recordingFiles.link, ctx);
    const row = await findStored(ctx, ref as Ref);
    await noteDownload(ctx, { operation: "recordingFiles.download", ...noted(row) });
    c.header("Cache-Control", "no-store");
    return c.redirect((await linkStoredFile(ctx, toFile(row), DOWNLOAD_LIFE_MS)).link, 302);
  });
}

async function linkFile(ctx: Ctx, ref: Ref): Promise<Complete<Output<Contract["link"]>>> {
  const row = await findStored(ctx, ref);
  const made = await linkStoredFile(ctx, toFile(row), HOUR_MS);
  await noteSent(ctx, { operation: "recordingFiles.link", ...noted(row) });
  return {
    ...made,
    fileName: fileNameOf(row),
    size: Number(row.sizeBytes),
    contentSha256: row.contentSha256 ?? undefined,
  };
}

/** Throws NoStreamableRecordings, with the reason, while there is no file that could be sent. */
async function findStored(ctx: Ctx, ref: Ref): Promise<RecordingModel> {
  const row = await findRecording(ctx, ref);
  const { importStatus, storedDamage } = row;
  const isHeld = row.blobKey !== null || row.siteObjectKey !== null;
  if (importStatus === "complete" && storedDamage === null && isHeld) return row;
  const missing = missingOne(row.id, { importStatus, storedDamage });
  throw new ApiError("NoStreamableRecordings", `the file is not here: ${describeMissing(missing)}`, { missing });
}

function noted({ id, path }: RecordingModel) {
  return { resourceKind: "recording", resourceId: id, what: { path } } as const;
}

/** Keys are never used again, so that a key names the bytes where their SHA-256 is not known. */
function toFile({ id, path, contentSha256, blobKey, siteObjectKey, siteId }: RecordingModel): StoredFile {
  const key = (blobKey ?? siteObjectKey)!;
  const site = siteObjectKey === null ? undefined : siteId!;
  return { id, path, blobKey: key, etag: contentSha256 ?? key.replaceAll("/", "-"), siteId: site };
}
