import { signLink } from "../blobs/signed-link.ts";
import type { Deps } from "../context/context.ts";

export const UPLOAD_PATH = "/data-plane/uploads";

/** A PUT may begin for so long. */
export const LINK_LIFE_NS = 24n * 3600n * 1_000_000_000n;

/** The link that takes the file of one import request, once, and until when. */
export function uploadLink(
  { signer, publicUrl }: Pick<Deps, "signer" | "publicUrl">,
  request: NewRequest,
): { link: string; linkExpiresAt: bigint } {
  const path = `${UPLOAD_PATH}/${request.id}`;
  const expiresAtMs = Number((request.createdAtNs + LINK_LIFE_NS) / 1_000_000n);
  const link = `${publicUrl()}${path}?${signLink(signer, { method: "PUT", path, claims: {}, expiresAtMs })}`;
  return { link, linkExpiresAt: BigInt(expiresAtMs) * 1_000_000n };
}

interface NewRequest {
  readonly id: string;
  readonly createdAtNs: bigint;
}
