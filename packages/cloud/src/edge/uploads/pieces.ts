import { type api, type DigestFields, digestOf, type Input, type Output } from "@downlink/protocol";
import type { AgentCtx } from "../../calls/context/context.ts";
import type { Complete } from "../../core/complete.ts";
import { requirePartLength } from "../../import-life/part-plans.ts";
import type { BlobStore, PiecePlan } from "../../store/blobs/blob-store.ts";
import { endOfPieces } from "../../store/blobs/piece-plan.ts";
import { toPiece } from "./upload-digests.ts";
import { abandonOnConflict, wantedUpload } from "./uploads.ts";

type Edge = typeof api.edge;

/** Grants only pieces that follow those that are held: an agent that lost an answer learns here that its piece arrived. */
export async function grantPieces(
  ctx: AgentCtx,
  input: Input<Edge["grantPieces"]>,
): Promise<Complete<Output<Edge["grantPieces"]>>> {
  const { blobKey } = await wantedUpload(ctx, input);
  const pieces = input.pieces.map((piece) => toPiecePlan(input.number, piece));
  const held = await listHeld(ctx.blobs, blobKey, input.number);
  const granted = goesOn(held, pieces) ? await ctx.blobs.grantPieces(blobKey, pieces) : [];
  return { held: held.map(toPiece), grants: granted };
}

/** The call may be repeated, because its answer may be lost. */
export async function composePart(
  ctx: AgentCtx,
  input: Input<Edge["composePart"]>,
): Promise<Complete<Output<Edge["composePart"]>>> {
  const { number, length } = input;
  const upload = await wantedUpload(ctx, input);
  requirePartLength(upload, { number, length });
  const part = { number, digest: digestOf(input), lengthBytes: length };
  const { etag } = await abandonOnConflict(ctx, upload, () => ctx.blobs.composePart(upload.blobKey, part));
  return { etag };
}

/** A part that is durable as a whole is listed as one piece, so that an agent that composes it gets the same answer as for any other. */
export async function listHeld(
  blobs: Pick<BlobStore, "listParts" | "listPieces">,
  blobKey: string,
  partNumber: number,
): Promise<PiecePlan[]> {
  const pieces = await blobs.listPieces(blobKey, partNumber);
  if (pieces.length > 0) return pieces;
  const whole = (await blobs.listParts(blobKey)).find(({ number }) => number === partNumber);
  return whole ? [{ partNumber, offset: 0, lengthBytes: whole.lengthBytes, digest: whole.digest }] : [];
}

export function toPiecePlan(partNumber: number, piece: { offset: number; length: number } & DigestFields): PiecePlan {
  return { partNumber, offset: piece.offset, lengthBytes: piece.length, digest: digestOf(piece) };
}

/** Says whether pieces begin where the held ones end, and follow each other without a gap. */
export function goesOn(held: readonly PiecePlan[], pieces: readonly PiecePlan[]): boolean {
  return pieces.every(({ offset }, index) => offset === endOfPieces(index === 0 ? held : pieces.slice(0, index)));
}
