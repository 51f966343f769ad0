import { z } from "zod";
import { apiKey, operation } from "../operations/operation.ts";
import { Credential } from "../shapes/credentials.ts";
import { DigestAlgorithm, partNumber, Sha256Hex, withDigest } from "../shapes/digests.ts";
import { composingPart, grantingPieces, HeldPieces } from "../shapes/pieces.ts";
import { ByteCount } from "../shapes/summaries.ts";
import { Id } from "../shapes/text.ts";
import { namesRobot, ROBOT_REQUIRED, uploadFields } from "./uploads.ts";

/** An upload ends by itself when no part was asked for in so many days. */
export const PART_UPLOAD_DAYS = 7;

const MOST_GRANTS = 100;

const ofRequest = { params: z.object({ requestId: Id }) };

/** The state of an upload, by which it is begun and gone on with. */
export const PartUpload = z
  .object({
    requestId: z.string(),
    size: ByteCount,
    partSize: z.int().min(1).meta({ description: "Each part has so many bytes, and the last one the rest" }),
    digest: DigestAlgorithm.meta({ description: "The digest by which each part is announced" }),
    isStored: z.boolean().meta({ description: "Every byte is here: nothing more to send" }),
    parts: z.array(withDigest({ number: partNumber, length: ByteCount })).meta({
      description: "The parts that are stored durably; compare their digests with the file before you go on",
    }),
    pieces: HeldPieces,
  })
  .meta({ id: "PartUpload" });
export type PartUpload = z.infer<typeof PartUpload>;

/**
 * These operations go beyond the specification. Agents send large files in parts, each of which is durable by itself; so do people and
 * programs with an API key, so that a broken link costs one part. The file becomes an import request, as one that comes by a link does.
 */
export const partUploads = {
  create: operation({
    method: "post",
    path: "/v1/data/uploads",
    unaudited: "The import request is listed with what became of it",
    makes: { repeat: "answer" },
    access: apiKey("data.upload", "projects"),
    summary: "Begin the upload of a recording in parts",
    description: `Send each part to its own target, in any order and several at once; then complete the upload, and follow \`requestId\` in the pending imports. After a break ask for the upload again: it says which parts are here. It ends by itself when no part was asked for in ${PART_UPLOAD_DAYS} days. For a self-hosted site use \`POST /v1/data/upload\`. A device or session that is missing is made at once.`,
    body: z
      .object({
        ...uploadFields,
        size: z.int().min(1).meta({ description: "The size of the file in bytes" }),
        sha256: Sha256Hex.optional().meta({
          description:
            "SHA-256 of the whole file. Where an imported recording of the project has that content, the answer names it, and nothing is begun",
        }),
      })
      .refine(namesRobot, ROBOT_REQUIRED),
    response: z.object({
      upload: PartUpload.optional(),
      existingRecordingId: z.string().optional().meta({ description: "In place of `upload`" }),
    }),
  }),
  get: operation({
    method: "get",
    path: "/v1/data/uploads/{requestId}",
    access: apiKey("data.upload", "projects"),
    summary: "Get an upload in parts, with the parts that are here",
    ...ofRequest,
    response: PartUpload,
  }),
  grantParts: operation({
    method: "post",
    path: "/v1/data/uploads/{requestId}/parts",
    unaudited: "The import request is listed with what became of it",
    makes: "nothing",
    access: apiKey("data.upload", "projects"),
    summary: "Ask for a signed target for each part",
    description:
      "PUT the part's bytes to `url` with exactly these headers. A target takes the announced bytes and no others.",
    ...ofRequest,
    body: z.object({
      parts: z
        .array(withDigest({ number: partNumber, length: z.int().min(1) }))
        .min(1)
        .max(MOST_GRANTS),
    }),
    response: z.object({
      grants: z.array(z.object({ number: partNumber, url: Credential, headers: z.record(z.string(), z.string()) })),
    }),
  }),
  grantPieces: operation({
    ...grantingPieces,
    path: "/v1/data/uploads/{requestId}/pieces",
    unaudited: "The import request is listed with what became of it",
    makes: "nothing",
    access: apiKey("data.upload", "projects"),
    description:
      "For a part whose sending broke off: `held` says how much of it is here, and the rest goes in pieces. Pieces are contiguous from the part's beginning on, and each is durable once its target answers; of one that breaks off the beginning is kept, like that of a part, if it has the least bytes of a piece and did not go straight to a bucket. Nothing is granted where the first piece does not begin at the end of what is held. At most 8 parts may be in pieces at once.",
    ...ofRequest,
  }),
  composePart: operation({
    ...composingPart,
    path: "/v1/data/uploads/{requestId}/compose",
    unaudited: "The import request is listed with what became of it",
    makes: "nothing",
    access: apiKey("data.upload", "projects"),
    ...ofRequest,
    response: z.object({ number: partNumber }),
  }),
  complete: operation({
    method: "post",
    path: "/v1/data/uploads/{requestId}/complete",
    unaudited: "The import request is listed with what became of it",
    makes: "nothing",
    access: apiKey("data.upload", "projects"),
    summary: "Make the file of its parts, which is then imported; a repeat is harmless",
    ...ofRequest,
    body: z.object({
      sha256: Sha256Hex.meta({
        description: "SHA-256 of the whole file: one that turns out to be another fails with `ChangedFile`",
      }),
    }),
    response: z.object({ requestId: z.string() }),
  }),
  delete: operation({
    method: "delete",
    path: "/v1/data/uploads/{requestId}",
    unaudited: "The import request is listed with what became of it",
    access: apiKey("data.upload", "projects"),
    summary: "Give up an upload in parts, whose bytes are then removed",
    ...ofRequest,
    response: z.object({ requestId: z.string() }),
  }),
};
