import type { DigestFields, Output, Piece, partUploads } from "@downlink/protocol";
import { ApiCallError } from "./errors.ts";

/** A range of bytes within a part. */
export type PieceRange = Pick<Piece, "offset" | "length">;
type Granted = Output<typeof partUploads.grantPieces>;
type Target = Granted["grants"][number];

/** The parts of an upload share what its breaks have shown of the way to the service. */
export interface UploadWay {
  /** A part that breaks off is lost as a whole: a proxy holds it back until it is whole, or it goes straight to a bucket. */
  losesParts: boolean;
}

/** A part of an upload, and the ways in which its bytes are read and sent. */
export interface PartInPieces {
  readonly length: number;
  readonly digest: DigestFields;
  /** The least bytes of a piece, as the upload says it. */
  readonly minBytes: number;
  /** So many bytes of the part were passed to the network when it was sent whole. */
  readonly sentWholeBytes: number;
  readonly way: UploadWay;
  readonly hash: (range: PieceRange) => Promise<DigestFields>;
  readonly grant: (pieces: Piece[]) => Promise<Granted>;
  readonly put: (target: Target, range: PieceRange) => Promise<unknown>;
  readonly compose: () => Promise<unknown>;
  /** Called with how many bytes the service holds of the part, from its beginning on. */
  readonly onHeld: (bytes: number) => void;
}

/** At most so many bytes are sent again after a break where the service could not keep what came of a piece. */
const PIECE_BYTES = 256 * 1024;
const PIECES_AHEAD = 16;
/** A way has lost a part if nothing of so many bytes arrived. Fewer may have been on their way. */
const LOST_BYTES = 1024 * 1024;
/** By these answers the service holds something else than it said: the sender asks again, as long as more is held than at the last time. */
const changedMeanwhile = ["Conflict", "DigestMismatch", "PartsMissing"];

/**
 * Sends what the service does not hold of a part in pieces, each of which is durable by itself, and lets it make the part of them. Held
 * pieces are compared with nothing before: where they are not the part's, all of it is sent once more. Throws what the given calls throw.
 */
export async function sendInPieces(part: PartInPieces): Promise<void> {
  for (let heldBefore = -1, heldBytes = 0; ; heldBefore = heldBytes) {
    const onHeld = (bytes: number) => {
      heldBytes = bytes;
      part.onHeld(bytes);
    };
    try {
      await sendMissing({ ...part, onHeld });
      await part.compose();
      return;
    } catch (error) {
      const isChanged = error instanceof ApiCallError && changedMeanwhile.includes(error.code ?? "");
      if (!isChanged || heldBytes <= heldBefore) throw error;
    }
  }
}

async function sendMissing(part: PartInPieces): Promise<void> {
  // A part that is asked for as one piece is not sent as such: the answer says what is held.
  let pieces: Piece[] = [{ offset: 0, length: part.length, ...part.digest }];
  for (let isPlanned = false; ; isPlanned = true) {
    const { held, grants } = await part.grant(pieces);
    let heldBytes = endOf(held);
    if (heldBytes === 0 && part.sentWholeBytes >= LOST_BYTES) part.way.losesParts = true;
    part.onHeld(heldBytes);
    if (isPlanned && heldBytes === pieces[0]!.offset)
      for (const [index, piece] of pieces.entries()) {
        await part.put(grants[index]!, piece);
        heldBytes = endOf([piece]);
        part.onHeld(heldBytes);
      }
    if (heldBytes >= part.length) return;
    pieces = await planPieces(part, heldBytes);
  }
}

async function planPieces({ length, minBytes, hash }: PartInPieces, heldBytes: number): Promise<Piece[]> {
  const mostBytes = Math.max(minBytes, PIECE_BYTES);
  const planned: Piece[] = [];
  for (let offset = heldBytes; offset < length && planned.length < PIECES_AHEAD; offset = endOf(planned)) {
    const range = { offset, length: Math.min(mostBytes, length - offset) };
    planned.push({ ...range, ...(await hash(range)) });
  }
  return planned;
}

function endOf(held: readonly PieceRange[]): number {
  const last = held.at(-1);
  return last ? last.offset + last.length : 0;
}
