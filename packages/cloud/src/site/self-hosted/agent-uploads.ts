// The calls that an agent makes with a capability: it opens its upload, gets targets for parts and pieces, and completes the file. Each
// call may be repeated, and may be cut off or killed: the store knows which parts are durable, and the notes say which files are whole
// (`received-files.ts`). The site does not ask the control plane, so that uploads go on while that is away.

import { digestOf, type Input, type Output, type siteUploads } from "@downlink/protocol";
import type { Complete } from "../../core/complete.ts";
import { refuse } from "../../core/errors.ts";
import { digestFor } from "../../edge/uploads/upload-digests.ts";
import { digestFields, grantNextPieces, toPiece } from "../../import-life/part-pieces.ts";
import { planOf, requirePartLength } from "../../import-life/part-plans.ts";
import { BlobExistsError, PartConflictError } from "../../store/blobs/blob-errors.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import { minPieceBytes } from "../../store/blobs/piece-plan.ts";
import type { CapableUpload } from "../../store/site-keys/upload-capability.ts";
import { beginCompletion, finishCompletion } from "./received-files.ts";

type Uploads = typeof siteUploads;

/** One upload, as its capability names it. */
export interface UploadAtSite {
  readonly blobs: BlobStore;
  readonly upload: CapableUpload;
}

export async function openUpload(
  at: UploadAtSite,
  { digests }: Pick<Input<Uploads["open"]>, "digests">,
): Promise<Complete<Output<Uploads["open"]>>> {
  const { blobs, upload } = at;
  const plan = planOf(upload);
  const isStored = await isWhole(at);
  const parts = isStored ? [] : await blobs.listParts(upload.key);
  const pieces = isStored ? [] : await blobs.listPieces(upload.key);
  const digest = digestFor({ digests }, [...parts, ...pieces], blobs.directDigest);
  if (digest === undefined) {
    await blobs.abortUpload(upload.key); // the agent cannot compare what is here, so it sends everything again
    return openUpload(at, { digests });
  }
  return {
    digest,
    isStored,
    parts: parts.map((part) => ({ number: part.number, length: part.lengthBytes, ...digestFields(part.digest) })),
    pieces: {
      minBytes: minPieceBytes(plan),
      held: pieces.map((piece) => ({ number: piece.partNumber, ...toPiece(piece) })),
    },
  };
}

/** Opens the upload unless its file is here. A file whose completion was cut off is acknowledged now. */
async function isWhole({ blobs, upload }: UploadAtSite): Promise<boolean> {
  try {
    await blobs.createUpload(upload.key, planOf(upload));
    return false;
  } catch (error) {
    if (!(error instanceof BlobExistsError)) throw error;
  }
  await finishCompletion(blobs, fileOf(upload));
  return true;
}

function fileOf({ requestId, key, sizeBytes }: CapableUpload) {
  return { requestId, key, sizeBytes: Number(sizeBytes) };
}

export async function grantParts(
  at: UploadAtSite,
  input: Input<Uploads["grantParts"]>,
): Promise<Complete<Output<Uploads["grantParts"]>>> {
  const { blobs, upload } = at;
  for (const part of input.parts) requirePartLength(upload, part);
  const parts = input.parts.map((part) => ({ number: part.number, digest: digestOf(part), lengthBytes: part.length }));
  return startOverOnConflict(at, async () => ({ grants: await blobs.grantParts(upload.key, parts) }));
}

export async function grantPieces(
  { blobs, upload }: UploadAtSite,
  input: Input<Uploads["grantPieces"]>,
): Promise<Complete<Output<Uploads["grantPieces"]>>> {
  return grantNextPieces(blobs, upload.key, input);
}

export async function composePart(
  at: UploadAtSite,
  input: Input<Uploads["composePart"]>,
): Promise<Complete<Output<Uploads["composePart"]>>> {
  const { number, length } = input;
  requirePartLength(at.upload, { number, length });
  const part = { number, digest: digestOf(input), lengthBytes: length };
  const { etag } = await startOverOnConflict(at, () => at.blobs.composePart(at.upload.key, part));
  return { etag };
}

/** Other bytes under a part's number mean that the file changed: nothing of what is here is continued. */
async function startOverOnConflict<T>({ blobs, upload }: UploadAtSite, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof PartConflictError)) throw error;
    await blobs.abortUpload(upload.key);
    refuse("UploadClosed", `${error.message}; open the upload again`);
  }
}

/** The answer may be lost, and the call comes again. The file is durable before it is noted, and noted before this returns. */
export async function completeUpload(
  { blobs, upload }: UploadAtSite,
  { sha256 }: Input<Uploads["complete"]>,
): Promise<Complete<Output<Uploads["complete"]>>> {
  const { key } = upload;
  const file = fileOf(upload);
  if (!(await blobs.stat(key))) {
    await beginCompletion(blobs, { ...file, inParts: true, sha256 });
    await blobs.completeUpload(key, await blobs.listParts(key));
  }
  await finishCompletion(blobs, file);
  return { size: file.sizeBytes };
}
