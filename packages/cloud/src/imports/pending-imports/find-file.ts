// The stored file of a request is served in every state that has one, and for a complete request as long as the recording has the data of
// that very import: serving it only until the completion would answer 404 at that moment for a file that exists. The link names the object,
// not the request, and ends with the object.

import type { Ctx } from "../../calls/context/context.ts";
import type { StoredFile } from "../../calls/data-plane/stored-file.ts";
import { refuse } from "../../core/errors.ts";
import type { ImportRequestModel, RecordingModel } from "../../db/generated/models.ts";
import { visibleTo } from "../../organization/projects/find-project.ts";
import { findRequest } from "./find-request.ts";

/** 404 if the request is not visible, or if nothing of it is stored: the message says why. */
export async function findFile(ctx: Ctx, requestId: string): Promise<StoredFile> {
  const request = await findRequest(ctx, requestId);
  const of = { id: requestId, path: request.filename };
  const { blobKey, siteObjectKey, siteId } = await findObject(ctx, request);
  // Keys are never used again, so that a key names the bytes of a file at a site.
  if (siteObjectKey !== null && siteId !== null)
    return { ...of, siteId, blobKey: siteObjectKey, etag: siteObjectKey.replace("/", "-") };
  if (blobKey === null) refuse("NotFound", explainNotStored(request));
  const object = await ctx.blobs.stat(blobKey);
  if (!object) refuse("NotFound", `the file of import request ${requestId} is no longer stored`);
  return { ...of, siteId: undefined, blobKey, etag: object.etag };
}

const nowhere = { blobKey: null, siteObjectKey: null, siteId: null } as const;
type Place = Pick<RecordingModel, "blobKey" | "siteObjectKey" | "siteId">;

/** Once the request is complete the object belongs to the recording, as long as that has the data of this very import. */
async function findObject(ctx: Ctx, request: ImportRequestModel): Promise<Place> {
  const { state, recordingId, importId } = request;
  if (state !== "complete") return request;
  if (recordingId === null) return nowhere;
  const recording = await ctx.db.prisma.recording.findFirst({
    where: { AND: [{ id: recordingId, importId, importStatus: "complete" }, visibleTo(ctx)] },
    select: { blobKey: true, siteObjectKey: true, siteId: true },
  });
  return recording ?? nowhere;
}

function explainNotStored({ id, state }: ImportRequestModel): string {
  if (state === "awaiting") return `the file of import request ${id} has not come yet`;
  if (state === "complete") return `the data of import request ${id} was deleted, or is another import's by now`;
  return `the file of import request ${id} is not stored: the import is "${state}"`;
}
