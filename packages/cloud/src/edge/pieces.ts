import { type api, type DigestFields, digestOf, type Input, type Output } from "@downlink/protocol";
import type { PiecePlan } from "../blobs/blob-store.ts";
import { endOfPieces } from "../blobs/piece-plan.ts";
import type { AgentCtx } from "../context/context.ts";
import type { Complete } from "../core/complete.ts";
import { toPiece } from "./upload-digests.ts";
import { checkPart, orAbandoned, wantedUpload } from "./uploads.ts";

type Edge = typeof api.edge;

/** Grants only what goes on from what is held: an agent that lost an answer learns here that its piece arrived. */
export async function grantPieces(
  ctx: AgentCtx,
  input: Input<Edge["grantPieces"]>,
): Promise<Complete<Output<Edge["grantPieces"]>>> {
  const { blobKey } = await wantedUpload(ctx, input);
  const pieces = input.pieces.map((piece) => ofPart(input.number, piece));
  const held = await listHeld(ctx, blobKey, input.number);
  const granted = goesOn(held, pieces) ? await ctx.blobs.grantPieces(blobKey, pieces) : [];
  return { held: held.map(toPiece), grants: granted };
}

/** Repeatable: a lost answer is asked for again. */
export async function composePart(
  ctx: AgentCtx,
  input: Input<Edge["composePart"]>,
): Promise<Complete<Output<Edge["composePart"]>>> {
  const { number, length } = input;
  const upload = await wantedUpload(ctx, input);
  checkPart(upload, { number, length });
  const part = { number, digest: digestOf(input), lengthBytes: length };
  const { etag } = await orAbandoned(ctx, upload, () => ctx.blobs.composePart(upload.blobKey, part));
  return { etag };
}

/** A part that is durable as a whole is held as one piece: who composes it is answered as for any other. */
async function listHeld({ blobs }: AgentCtx, blobKey: string, partNumber: number): Promise<PiecePlan[]> {
  const pieces = await blobs.listPieces(blobKey, partNumber);
  if (pieces.length > 0) return pieces;
  const whole = (await blobs.listParts(blobKey)).find(({ number }) => number === partNumber);
  return whole ? [{ partNumber, offset: 0, lengthBytes: whole.lengthBytes, digest: whole.digest }] : [];
}

function ofPart(partNumber: number, piece: { offset: number; length: number } & DigestFields): PiecePlan {
  return { partNumber, offset: piece.offset, lengthBytes: piece.length, digest: digestOf(piece) };
}

/** Whether pieces begin where others end, and follow each other without a gap. */
function goesOn(held: readonly PiecePlan[], pieces: readonly PiecePlan[]): boolean {
  return pieces.every(({ offset }, index) => offset === endOfPieces(index === 0 ? held : pieces.slice(0, index)));
}
