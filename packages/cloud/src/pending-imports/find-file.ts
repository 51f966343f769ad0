// The stored file of a request is served in every state that has one, and of a complete request as long as the
// recording has the data of that very import, not up to the completion only: who asks at that moment would get a 404
// for a file that is there. The link names the object, not the request, and ends with it.

import type { Ctx } from "../context/context.ts";
import { refuse } from "../core/errors.ts";
import type { ImportRequestModel } from "../db/generated/models.ts";
import { visibleTo } from "../projects/find-project.ts";
import { findRequest } from "./find-request.ts";

/** The stored bytes of one import request. */
export interface StoredFile {
  readonly requestId: string;
  readonly filename: string;
  readonly blobKey: string;
  /** Without quotes. */
  readonly etag: string;
}

/** 404 where the request is not visible, and where nothing of it is stored: the sentence says why. */
export async function findFile(ctx: Ctx, requestId: string): Promise<StoredFile> {
  const request = await findRequest(ctx, requestId);
  const blobKey = await findObject(ctx, request);
  if (blobKey === null) refuse("NotFound", whyNotStored(request));
  const object = await ctx.blobs.stat(blobKey);
  if (!object) refuse("NotFound", `the file of import request ${requestId} is no longer stored`);
  return { requestId, filename: request.filename, blobKey, etag: object.etag };
}

/** Once it is complete the object is the recording's, as long as that has the data of this very import. */
async function findObject(ctx: Ctx, request: ImportRequestModel): Promise<string | null> {
  const { state, blobKey, recordingId, importId } = request;
  if (state !== "complete") return blobKey;
  if (recordingId === null) return null;
  const recording = await ctx.db.prisma.recording.findFirst({
    where: { AND: [{ id: recordingId, importId, importStatus: "complete" }, visibleTo(ctx)] },
    select: { blobKey: true },
  });
  return recording?.blobKey ?? null;
}

function whyNotStored({ id, state }: ImportRequestModel): string {
  if (state === "awaiting") return `the file of import request ${id} has not come yet`;
  if (state === "complete") return `the data of import request ${id} was deleted, or is another import's by now`;
  return `the file of import request ${id} is not stored: the import is "${state}"`;
}
