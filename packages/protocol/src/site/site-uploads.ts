import { z } from "zod";
import { edgePieces } from "../edge/edge-pieces.ts";
import { operation, uploadCapability } from "../operations/operation.ts";
import { Credential } from "../shapes/credentials.ts";
import { DigestAlgorithm, partNumber, Sha256Hex, withDigest } from "../shapes/digests.ts";
import { HeldPieces } from "../shapes/pieces.ts";
import { ByteCount } from "../shapes/summaries.ts";
import { StorableText } from "../shapes/text.ts";

const params = z.object({ uploadId: z.string().regex(/^upl_[0-9a-z]{26}$/) });
const access = uploadCapability();

/**
 * The calls by which an agent sends one file to a self-hosted site, and not to the control plane. `POST /v1/edge/imports/…/upload` names
 * the site, and gives the capability that all these calls take as their bearer token. The site never sees the token of the agent.
 */
export const siteUploads = {
  open: operation({
    method: "post",
    path: "/data-plane/site-uploads/{uploadId}/open",
    access,
    summary: "At a self-hosted site: open the upload, or find what the site holds of it; repeatable",
    params,
    body: z.object({ digests: z.array(DigestAlgorithm).min(1).max(8) }),
    response: z.object({
      digest: DigestAlgorithm.meta({ description: "The digest of all parts and pieces of this upload" }),
      isStored: z.boolean().meta({ description: "The site has acknowledged the whole file: nothing more to send" }),
      parts: z.array(withDigest({ number: partNumber, length: ByteCount })).meta({ description: "Durable parts" }),
      pieces: HeldPieces,
    }),
  }),
  grantParts: operation({
    method: "post",
    path: "/data-plane/site-uploads/{uploadId}/grants",
    access,
    summary: "At a self-hosted site: ask for a signed target for each part",
    params,
    body: z.object({
      parts: z
        .array(withDigest({ number: partNumber, length: z.int().min(1) }))
        .min(1)
        .max(100),
    }),
    response: z.object({
      grants: z.array(z.object({ number: partNumber, url: Credential, headers: z.record(z.string(), z.string()) })),
    }),
  }),
  grantPieces: operation({
    ...edgePieces.grantPieces,
    path: "/data-plane/site-uploads/{uploadId}/pieces",
    access,
    summary: "At a self-hosted site: ask for a signed target for each of the next pieces of a part",
    params,
  }),
  composePart: operation({
    ...edgePieces.composePart,
    path: "/data-plane/site-uploads/{uploadId}/compose",
    access,
    summary: "At a self-hosted site: make a part of its pieces; repeatable",
    params,
  }),
  complete: operation({
    method: "post",
    path: "/data-plane/site-uploads/{uploadId}/complete",
    access,
    summary: "At a self-hosted site: say that every part was sent; repeatable",
    description:
      "The answer follows once the file is durable at the site. The site reports it to the control plane, whenever that can be reached.",
    params,
    bodySize: "large",
    body: z.object({
      parts: z.array(withDigest({ number: partNumber, etag: StorableText.optional() })).max(10_000),
      sha256: Sha256Hex,
    }),
    response: z.object({ size: ByteCount }),
  }),
};
