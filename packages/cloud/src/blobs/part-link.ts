import { ApiError } from "../http/errors.ts";
import type { PartGrant, PartPlan } from "./blob-store.ts";
import { type LinkRequest, type LinkSigner, signLink, verifyLink } from "./signed-link.ts";

/** The path below which a file store's parts are sent: `<prefix><key>/<part number>`. */
export const PART_PATH_PREFIX = "/data-plane/parts/";

const PART_PATH = /^\/data-plane\/parts\/(?<key>[a-z0-9_/-]+)\/(?<number>\d{1,5})$/;

export interface PartLinks {
  signer: LinkSigner;
  /** Without a slash at the end. */
  publicUrl: string;
  expiresAtMs: number;
}

/** A target for exactly these bytes. */
export function grantPart(links: PartLinks, key: string, part: PartPlan): PartGrant {
  const path = `${PART_PATH_PREFIX}${key}/${part.number}`;
  const claims = { md5: part.md5, length: String(part.lengthBytes) };
  const query = signLink(links.signer, { method: "PUT", path, claims, expiresAtMs: links.expiresAtMs });
  return { number: part.number, url: `${links.publicUrl}${path}?${query}`, headers: {} };
}

/** What a request's link lets it send. Throws as `verifyLink` does. */
export function readPartLink(signer: LinkSigner, request: LinkRequest): { key: string; part: PartPlan } {
  const claims = verifyLink(signer, request);
  const found = PART_PATH.exec(request.path)?.groups;
  if (!found) throw new ApiError("InvalidLink", "this is no link to a part");
  const part = { number: Number(found.number), md5: claims.md5!, lengthBytes: Number(claims.length) };
  return { key: found.key!, part };
}
