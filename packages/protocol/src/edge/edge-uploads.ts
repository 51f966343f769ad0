import { z } from "zod";
import { agentToken, operation } from "../operations/operation.ts";
import { Credential } from "../shapes/credentials.ts";
import { DigestAlgorithm, partNumber, Sha256Hex, withDigest } from "../shapes/digests.ts";
import { HeldPieces } from "../shapes/pieces.ts";
import { ByteCount } from "../shapes/summaries.ts";
import { Id, StorableText } from "../shapes/text.ts";
import { Timestamp } from "../shapes/time.ts";
import { VersionId } from "./edge-items.ts";
import { edgeLimits } from "./edge-limits.ts";
import { edgePieces, uploadParams } from "./edge-pieces.ts";
import { UploadSite } from "./upload-site.ts";

/** How the file of a request comes from its device: opened, sent in parts that are durable one by one, and ended. */
export const edgeUploads = {
  openUpload: operation({
    method: "post",
    path: "/v1/edge/imports/{requestId}/upload",
    access: agentToken(),
    summary: "Open or reopen the upload of one file version",
    params: z.object({ requestId: Id }),
    body: z.object({
      versionId: VersionId,
      size: ByteCount,
      modifiedAt: Timestamp,
      partSize: z.int().min(edgeLimits.slowLinkPartBytes).max(edgeLimits.minPartBytes).optional().meta({
        description: "The size that the agent asks for on a slow link; an upload that is open already keeps its own",
      }),
      digests: z.array(DigestAlgorithm).max(8).optional().meta({
        description: "The digests that the agent can send for its parts and pieces; absent: MD5 alone",
      }),
      takesSites: z.boolean().optional().meta({
        description:
          "The agent can send parts to a self-hosted site. Without it an upload to one is refused with `SiteUnavailable` (409) until the agent is updated",
      }),
      sha256: Sha256Hex.optional().meta({
        description:
          "SHA-256 of the whole file, if it is known. If this device's imported recordings have that content already, the request ends as `failed` with `DuplicateContent` before a byte is sent, and the call with `RequestSuperseded`",
      }),
    }),
    response: z.object({
      uploadId: z.string(),
      partSize: z.int().min(1),
      digest: DigestAlgorithm.optional().meta({
        description: "The digest of all parts and pieces of this upload; absent: MD5",
      }),
      isStored: z.boolean().meta({ description: "Every byte is here already: nothing more to send" }),
      wantsSha256: z.boolean().optional().meta({
        description:
          "An imported recording of this device may have the same content: it pays to hash the file and to open the upload again with its `sha256`. An agent that does not do so sends the parts",
      }),
      parts: z.array(withDigest({ number: partNumber, length: ByteCount })).meta({ description: "Durable parts" }),
      pieces: HeldPieces.optional().meta({
        description: "On a slow link parts may be sent in pieces; absent where that is not possible",
      }),
      site: UploadSite.optional().meta({
        description:
          "The file goes to this self-hosted site: with the capability in place of a token, the agent calls `siteUploads` there. The agent asks the site which parts it holds, too: `parts` is empty here",
      }),
    }),
  }),
  grantParts: operation({
    method: "post",
    path: "/v1/edge/imports/{requestId}/upload/{uploadId}/grants",
    access: agentToken(),
    summary: "Ask for a signed target for each part",
    params: uploadParams,
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
  ...edgePieces,
  completeUpload: operation({
    method: "post",
    path: "/v1/edge/imports/{requestId}/upload/{uploadId}/complete",
    access: agentToken(),
    summary: "Say that every part was sent; repeatable",
    params: uploadParams,
    bodySize: "large",
    body: z.object({
      parts: z.array(withDigest({ number: partNumber, etag: StorableText.optional() })).max(10_000),
      sha256: Sha256Hex,
    }),
    response: z.object({ recordingId: z.string() }),
  }),
};
