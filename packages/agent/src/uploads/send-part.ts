import { api, tellDigest } from "@downlink/protocol";
import { checkUnmoved, FileMoved } from "../files/open-tracked.ts";
import { type OpenUpload, PartMismatch } from "./open-upload.ts";
import { isPartWorthRetrying } from "./part-retries.ts";
import { putRange } from "./put-range.ts";
import { beginPieces, type PartToSend, sendPieces } from "./send-pieces.ts";

export interface SentPart {
  readonly number: number;
  readonly digest: string;
  readonly etag?: string;
}

/** Until it is durable, or fails in a way that another try within this upload does not mend. */
export async function sendPart(upload: OpenUpload, toSend: PartToSend): Promise<SentPart> {
  const { session, storage, file, onPartFailed } = upload.job;
  const { part, digest, signal } = toSend;
  const progress = beginPieces(upload, part);
  for (let attempt = 1; ; attempt++) {
    const heldBefore = progress.heldBytes();
    try {
      await checkUnmoved(storage, { source: upload.source, path: file.path, identity: file.identity });
      const pieced = upload.pieces ? await sendPieces(upload, toSend, progress) : "whole";
      const etag = pieced === "whole" ? await putPart(upload, toSend) : pieced.etag;
      return { number: part.number, digest, etag };
    } catch (failure) {
      signal.throwIfAborted();
      if (failure instanceof FileMoved || failure instanceof PartMismatch) throw failure;
      onPartFailed(failure);
      // On a link that is cut again and again a part may take any number of tries, each of which brings it on.
      if (progress.heldBytes() > heldBefore) attempt = 1;
      if (progress.isRefuted() || !isPartWorthRetrying(failure, attempt)) throw failure;
      await session.waitToRetry(failure, attempt, signal);
      signal.throwIfAborted();
    }
  }
}

/** One try of a whole part: a grant is short-lived, so each try asks for its own. */
async function putPart(upload: OpenUpload, { part, digest, signal }: PartToSend): Promise<string | undefined> {
  const { job, uploadId } = upload;
  const { number, length } = part;
  const asked = { requestId: job.requestId, uploadId, parts: [{ number, length, ...tellDigest(digest) }] };
  const { grants } = await job.session.call(api.edge.grantParts, asked, { signal });
  const target = grants.find((candidate) => candidate.number === number);
  if (!target) throw new TypeError(`the control plane granted no target for part ${number}`);
  return await putRange(upload, { range: part, target, call: { what: "part", uploadId, number }, signal });
}
