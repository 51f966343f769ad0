import { toDigestFields } from "@downlink/protocol";
import { checkUnmoved, FileMovedError } from "../files/open-tracked.ts";
import { type OpenUpload, PartMismatchError } from "./open-upload.ts";
import { putRange } from "./put-range.ts";
import { beginPieces, type PartToSend, type PieceProgress, sendPieces } from "./send-pieces.ts";

export interface SentPart {
  readonly number: number;
  readonly digest: string;
  readonly etag?: string;
}

/** Sends a part until it is durable; fails where another try within this upload would not help. */
export async function sendPart(upload: OpenUpload, toSend: PartToSend): Promise<SentPart> {
  const { signal } = toSend;
  const progress = beginPieces(upload, toSend.part);
  for (let attempt = 1; ; attempt++) {
    const heldBefore = progress.heldBytes();
    try {
      return await tryOnce(upload, toSend, progress);
    } catch (failure) {
      signal.throwIfAborted();
      if (failure instanceof FileMovedError || failure instanceof PartMismatchError) throw failure;
      upload.job.onPartFailed(failure);
      // On a link that is cut again and again, a part may take any number of tries, as long as each makes progress.
      if (progress.heldBytes() > heldBefore) attempt = 1;
      if (progress.isRefuted() || !upload.place.isWorthRetrying(failure, attempt)) throw failure;
      await upload.place.waitToRetry(failure, attempt, signal);
      signal.throwIfAborted();
    }
  }
}

async function tryOnce(upload: OpenUpload, toSend: PartToSend, progress: PieceProgress): Promise<SentPart> {
  const { storage, file } = upload.job;
  await checkUnmoved(storage, { source: upload.source, path: file.path, identity: file.identity });
  const pieced = upload.pieces ? await sendPieces(upload, toSend, progress) : "whole";
  const etag = pieced === "whole" ? await putPart(upload, toSend) : pieced.etag;
  return { number: toSend.part.number, digest: toSend.digest, etag };
}

/** Tries once to send a whole part. Each try asks for its own grant, because grants are short-lived. */
async function putPart(upload: OpenUpload, { part, digest, signal }: PartToSend): Promise<string | undefined> {
  const { place, uploadId } = upload;
  const { number, length } = part;
  const { grants } = await place.grantParts([{ number, length, ...toDigestFields(digest) }], signal);
  const target = grants.find((candidate) => candidate.number === number);
  if (!target) throw new TypeError(`the control plane granted no target for part ${number}`);
  return await putRange(upload, { range: part, target, call: { what: "part", uploadId, number }, signal });
}
