import { PieceRefusedError } from "../blob-errors.ts";
import type { PiecePlan } from "../blob-store.ts";
import { MOST_PARTS_IN_PIECES, placePiece } from "../piece-plan.ts";

/**
 * Returns false where these very bytes are held already. Throws `PieceConflictError` for a piece that leaves a gap, and
 * {@link PieceRefusedError} for one of too many parts.
 */
export function comesNext(held: readonly PiecePlan[], piece: PiecePlan): boolean {
  const ofPart = held.filter(({ partNumber }) => partNumber === piece.partNumber);
  checkPartsInPieces(held, piece);
  return placePiece(ofPart, piece) === "next";
}

/** Throws {@link PieceRefusedError} for a piece of a new part where no other part may come in pieces. */
export function checkPartsInPieces(held: readonly PiecePlan[], { partNumber: wanted }: PiecePlan): void {
  const begun = new Set(held.map(({ partNumber }) => partNumber));
  if (!begun.has(wanted) && begun.size >= MOST_PARTS_IN_PIECES)
    throw new PieceRefusedError(
      `the parts ${[...begun].join(", ")} are in pieces; no other one may be until one of them is whole`,
    );
}
