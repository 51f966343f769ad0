import type { Ctx } from "../../calls/context/context.ts";
import { makerClaim } from "../../core/callers.ts";
import { signLink } from "../../core/signed-link.ts";
import type { ImportRequestModel } from "../../db/generated/models.ts";
import { signRequest } from "../../keeping/manifests/request-manifest.ts";
import type { ServingSite } from "../../store/site-keys/find-serving-site.ts";

export const UPLOAD_PATH = "/data-plane/uploads";

/** A PUT may begin within this time. */
export const LINK_LIFE_NS = 24n * 3600n * 1_000_000_000n;

type LinkMaker = Pick<Ctx, "signer" | "publicUrl" | "caller">;

interface NewRequest {
  readonly id: string;
  readonly createdAtNs: bigint;
}

interface UploadLink {
  readonly link: string;
  readonly linkExpiresAt: bigint;
}

/** Makes the link that takes the file of one import request, once, and says when it ends. */
export function uploadLink(maker: LinkMaker, request: NewRequest): UploadLink {
  return signUpload(maker, request, makerClaim(maker.caller));
}

/**
 * Makes the same at a self-hosted site. Its route has no database, so the link carries what it needs to know, and what the site keeps for
 * a control plane that has forgotten the request.
 */
export function siteUploadLink(
  { signer }: Pick<LinkMaker, "signer">,
  site: ServingSite,
  request: ImportRequestModel,
): UploadLink {
  return signUpload(site, request, { org: request.orgId, request: signRequest(signer, request) });
}

function signUpload(
  { signer, publicUrl }: Pick<LinkMaker, "signer" | "publicUrl">,
  { id, createdAtNs }: NewRequest,
  claims: Readonly<Record<string, string>>,
): UploadLink {
  const path = `${UPLOAD_PATH}/${id}`;
  const expiresAtMs = Number((createdAtNs + LINK_LIFE_NS) / 1_000_000n);
  const link = `${publicUrl()}${path}?${signLink(signer, { method: "PUT", path, claims, expiresAtMs })}`;
  return { link, linkExpiresAt: BigInt(expiresAtMs) * 1_000_000n };
}
