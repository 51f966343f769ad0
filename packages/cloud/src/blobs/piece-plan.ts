import { edgeLimits } from "@downlink/protocol";
import { PieceConflictError, PieceRefusedError } from "./blob-errors.ts";
import type { PiecePlan, UploadPlan } from "./blob-store.ts";
import { partLength } from "./part-plan.ts";

/**
 * A limit, so that what is known of a part's pieces fits a small journal and a short answer, whatever a sender does.
 */
const MOST_PIECES_OF_A_PART = 2048;
/** A sender goes on with the parts that it began; so many are more than it has under way at once. */
export const MOST_PARTS_IN_PIECES = 8;

/** The least that a piece holds, but for the last one of its part. Bytes. */
export function minPieceBytes(plan: UploadPlan): number {
  return Math.max(edgeLimits.minPieceBytes, Math.ceil(plan.partSizeBytes / MOST_PIECES_OF_A_PART));
}

/** Throws {@link PieceRefusedError} for a piece that reaches out of its part or is too short, `PartRefused` for no part of the plan. */
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

/** Whether these very bytes are held already, or come next. Throws {@link PieceConflictError} for all else. */
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

/** How many bytes of a part its pieces are, from its beginning. */
export function endOfPieces(held: readonly Pick<PiecePlan, "offset" | "lengthBytes">[]): number {
  const last = held.at(-1);
  return last ? last.offset + last.lengthBytes : 0;
}
