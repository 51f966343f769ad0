// An agent shows no token of its own to a site. As it opens an upload, the control plane gives it a capability: the query of a signed link,
// used as a bearer token, with the site's own key. It names the site, the upload, its key, size and part size, and ends after an hour. So
// one that was stolen opens nothing but this upload, and a request that was cancelled is never longer than that at the site.

import { invalid, refuse } from "../../core/errors.ts";
import { type LinkSigner, signLink, verifyLink } from "../../core/signed-link.ts";
import type { ServingSite } from "./find-serving-site.ts";

export const CAPABILITY_LIFE_NS = 3600n * 1_000_000_000n;

/** An upload as its site knows it. */
export interface CapableUpload {
  readonly id: string;
  readonly requestId: string;
  readonly key: string;
  readonly sizeBytes: bigint;
  readonly partSizeBytes: bigint;
}

/** Makes the capability for one upload at a site. */
export function makeCapability({ signer }: ServingSite, upload: CapableUpload, expiresAtNs: bigint): string {
  const { id, requestId, key, sizeBytes, partSizeBytes } = upload;
  const claims = { request: requestId, key, size: String(sizeBytes), part: String(partSizeBytes) };
  return signLink(signer, { ...target(id), claims, expiresAtMs: Number(expiresAtNs / 1_000_000n) });
}

interface Shown {
  readonly uploadId: string;
  /** The text of the `Authorization` header. */
  readonly authorization: string | undefined;
  readonly nowMs: number;
}

/** Reads what the holder of a capability may send. Throws as `verifyLink` does, also for that of another upload. */
export function readCapability(signer: LinkSigner, { uploadId, authorization = "", nowMs }: Shown): CapableUpload {
  const text = /^bearer +(\S+) *$/i.exec(authorization)?.[1];
  if (text === undefined) refuse("Unauthenticated", "an Authorization header with the upload's capability is required");
  const claims = verifyLink(signer, { ...target(uploadId), query: new URLSearchParams(text), nowMs });
  const { request, key, size, part } = claims;
  if (!request || !key?.endsWith(`/${uploadId}`) || !size || !part) invalid("capability", "is none for an upload");
  return { id: uploadId, requestId: request, key, sizeBytes: BigInt(size), partSizeBytes: BigInt(part) };
}

function target(uploadId: string) {
  return { method: "POST", path: `/data-plane/site-uploads/${uploadId}` };
}
