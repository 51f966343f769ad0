import { z } from "zod";
import { Credential } from "./credentials.ts";
import { partNumber, withDigest } from "./digests.ts";
import { ByteCount } from "./summaries.ts";

export const pieceLimits = {
  /** The least bytes of a piece. The last piece of a part may have fewer. */
  minPieceBytes: 64 * 1024,
  piecesPerGrant: 16,
} as const;

/** A range of one part. */
const pieceFields = { offset: ByteCount, length: z.int().min(1) };
const Piece = withDigest(pieceFields);
export type Piece = z.infer<typeof Piece>;

export const HeldPieces = z.object({
  minBytes: z.int().min(1).meta({ description: "The least that a piece holds, but for the last one of its part" }),
  held: z
    .array(withDigest({ ...pieceFields, number: partNumber }))
    .meta({ description: "Durable pieces of parts that are not, each part's from its beginning on" }),
});

/** The call for targets of pieces, of every kind of sender. */
export const grantingPieces = {
  method: "post",
  summary: "Ask for a signed target for each of the next pieces of a part",
  description:
    "For links on which a part takes long or never arrives. Pieces are contiguous from the part's beginning on, and each is durable once its target answers. Nothing is granted where the first one does not begin at the end of what is held: `held` says where to go on, and with which bytes.",
  body: z.object({ number: partNumber, pieces: z.array(Piece).min(1).max(pieceLimits.piecesPerGrant) }),
  response: z.object({
    held: z.array(Piece).meta({ description: "The pieces of this part that are held, from its beginning on" }),
    grants: z.array(z.object({ offset: ByteCount, url: Credential, headers: z.record(z.string(), z.string()) })),
  }),
} as const;

/** The call that makes a part of its pieces, of every kind of sender. */
export const composingPart = {
  method: "post",
  summary: "Make a part of its pieces; repeatable",
  description:
    "`PartsMissing` where they are not all of it. `DigestMismatch` where together they have another digest: then they are forgotten.",
  body: withDigest({ number: partNumber, length: z.int().min(1) }),
} as const;
