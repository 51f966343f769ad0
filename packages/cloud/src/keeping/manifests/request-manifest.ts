// A self-hosted site keeps with each file what the control plane says of its request. A control plane that was restored from a backup of
// before that request reads it there, and knows by the signature that these are its own words.

import { z } from "zod";
import { type LinkSigner, signLink, verifyLink } from "../../core/signed-link.ts";
import type { ImportRequestModel } from "../../db/generated/models.ts";
import { DescribedRequest } from "./manifest.ts";
import { describeRequest } from "./write-manifests.ts";

/** No request has this method, so that the signed text cannot be used as a link. */
const METHOD = "DESCRIBE";
const NEVER_MS = 999_999_999_999_999;
/** A name may have any length, but the text is part of links, which have to fit the header lines of every client. */
const MAX_NAME_CHARACTERS = 255;

/** Describes a request in a signed text. A name that is too long keeps its end, which says what the file is. */
export function signRequest(signer: LinkSigner, request: ImportRequestModel): string {
  const filename = request.filename.slice(-MAX_NAME_CHARACTERS).toWellFormed();
  const claims = { request: JSON.stringify(z.encode(DescribedRequest, { ...describeRequest(request), filename })) };
  return signLink(signer, { method: METHOD, path: request.id, claims, expiresAtMs: NEVER_MS });
}

/** Reads a text that was made for this request. Throws an ApiError for any other text. */
export function readRequest(signer: LinkSigner, requestId: string, signed: string): DescribedRequest {
  const query = new URLSearchParams(signed);
  const claims = verifyLink(signer, { method: METHOD, path: requestId, query, nowMs: 0 });
  return DescribedRequest.parse(JSON.parse(claims.request!));
}
