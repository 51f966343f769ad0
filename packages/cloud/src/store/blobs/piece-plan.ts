import { edgeLimits } from "@downlink/protocol";
import { PieceConflictError, PieceRefusedError } from "./blob-errors.ts";
import type { PiecePlan, UploadPlan } from "./blob-store.ts";
import { partLength } from "./part-plan.ts";

/** This limit keeps the journal and the answers about a part's pieces small, whatever a sender does. */
const MOST_PIECES_OF_A_PART = 2048;
/** A sender finishes the parts that it began, and has fewer than this under way at once. */
export const MOST_PARTS_IN_PIECES = 8;

/** Returns how many bytes a piece holds at least; only the last one of its part may be shorter. */
export function minPieceBytes(plan: UploadPlan): number {
  return Math.max(edgeLimits.minPieceBytes, Math.ceil(plan.partSizeBytes / MOST_PIECES_OF_A_PART));
}

/**
 * Throws {@link PieceRefusedError} for a piece that reaches beyond its part or is too short, `PartRefused` for a part outside of the plan.
 */
export function checkPiece(plan: UploadPlan, { partNumber, offset, lengthBytes }: PiecePlan): void {
  const partBytes = partLength(plan, partNumber);
  const isRange = Number.isSafeInteger(offset) && offset >= 0 && Number.isSafeInteger(lengthBytes) && lengthBytes >= 1;
  if (!isRange || offset + lengthBytes > partBytes)
    throw new PieceRefusedError(
      `part ${partNumber} has ${partBytes} bytes; there are no ${lengthBytes} from byte ${offset} on`,
    );
  if (lengthBytes < minPieceBytes(plan) && offset + lengthBytes < partBytes)
    throw new PieceRefusedError(`a piece has ${minPieceBytes(plan)} bytes at least, but for the last one of its part`);
}

/** Says whether these very bytes are held already, or are the next ones. Throws {@link PieceConflictError} for all others. */
export function placePiece(held: readonly PiecePlan[], piece: PiecePlan): "held" | "next" {
  const { partNumber, offset, lengthBytes, digest } = piece;
  const other = held.find((each) => each.offset === offset);
  if (other?.digest === digest && other.lengthBytes === lengthBytes) return "held";
  const heldBytes = endOfPieces(held);
  if (offset === heldBytes) return "next";
  throw new PieceConflictError(
    `the first ${heldBytes} bytes of part ${partNumber} are held; the next piece begins there`,
  );
}

/** Returns how many bytes, from the part's beginning on, the pieces cover. */
export function endOfPieces(held: readonly Pick<PiecePlan, "offset" | "lengthBytes">[]): number {
  const last = held.at(-1);
  return last ? last.offset + last.lengthBytes : 0;
}
