// The pieces of a part, as every sender asks for them: an agent at the control plane or at a site, and a person or program with an API key.

import { type api, type DigestFields, digestOf, type Input, type Output, toDigestFields } from "@downlink/protocol";
import type { Complete } from "../core/complete.ts";
import type { BlobStore, PiecePlan } from "../store/blobs/blob-store.ts";
import { endOfPieces } from "../store/blobs/piece-plan.ts";

type Edge = typeof api.edge;
type ShownPiece = Output<Edge["grantPieces"]>["held"][number];

interface WantedPieces extends Pick<Input<Edge["grantPieces"]>, "number" | "pieces"> {
  /** See `SentBytes` of the store. */
  readonly keepsBeginning?: boolean | undefined;
}

/** Grants only pieces that follow those that are held: a sender that lost an answer learns here that its piece arrived. */
export async function grantNextPieces(
  blobs: BlobStore,
  key: string,
  { number, pieces, keepsBeginning }: WantedPieces,
): Promise<Complete<Output<Edge["grantPieces"]>>> {
  const plans = pieces.map((piece) => ({ ...toPiecePlan(number, piece), keepsBeginning }));
  const held = await listHeld(blobs, key, number);
  const grants = goesOn(held, plans) ? await blobs.grantPieces(key, plans) : [];
  return { held: held.map(toPiece), grants };
}

/** A part that is durable as a whole is listed as one piece, so that a sender that composes it gets the same answer as for any other. */
async function listHeld(blobs: BlobStore, key: string, partNumber: number): Promise<PiecePlan[]> {
  const pieces = await blobs.listPieces(key, partNumber);
  if (pieces.length > 0) return pieces;
  const whole = (await blobs.listParts(key)).find(({ number }) => number === partNumber);
  return whole ? [{ partNumber, offset: 0, lengthBytes: whole.lengthBytes, digest: whole.digest }] : [];
}

function toPiecePlan(partNumber: number, piece: { offset: number; length: number } & DigestFields): PiecePlan {
  return { partNumber, offset: piece.offset, lengthBytes: piece.length, digest: digestOf(piece) };
}

/** Says whether pieces begin where the held ones end, and follow each other without a gap. */
function goesOn(held: readonly PiecePlan[], pieces: readonly PiecePlan[]): boolean {
  return pieces.every(({ offset }, index) => offset === endOfPieces(index === 0 ? held : pieces.slice(0, index)));
}

/** Returns the piece as the contract has it. */
export function toPiece({ offset, lengthBytes, digest }: PiecePlan): Complete<ShownPiece> {
  return { offset, length: lengthBytes, ...digestFields(digest) };
}

/** Returns the two fields of the contract for a digest. */
export function digestFields(digest: string): Complete<DigestFields> {
  return { md5: undefined, sha256: undefined, ...toDigestFields(digest) };
}
