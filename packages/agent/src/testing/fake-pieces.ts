import type { DigestAlgorithm, DigestFields, Piece } from "@downlink/protocol";
import { digestBytes, hasDigest } from "./digests.ts";
import { RefusalError } from "./refusal.ts";

export type HeldBytes = { readonly offset: number; readonly bytes: Buffer };

/** Pieces of the parts of one upload, with the rules of the contract. */
export class FakePieces {
  readonly #held = new Map<number, HeldBytes[]>();
  readonly #digest: DigestAlgorithm;

  constructor(digest: DigestAlgorithm) {
    this.#digest = digest;
  }

  of(number: number): HeldBytes[] {
    const held = this.#held.get(number) ?? [];
    this.#held.set(number, held);
    return held;
  }

  /** All pieces, as the answer to the opening names them. */
  all(): (Piece & { number: number })[] {
    return [...this.#held].flatMap(([number, held]) => held.map((piece) => ({ number, ...this.#describe(piece) })));
  }

  /** Grants targets where the pieces continue what is held, otherwise none. */
  grant(number: number, pieces: readonly Piece[], urlOf: (piece: Piece) => string): unknown {
    const held = this.of(number);
    const isNext = pieces[0]?.offset === endOf(held);
    const grants = isNext ? pieces.map((piece) => ({ offset: piece.offset, url: urlOf(piece), headers: {} })) : [];
    return { held: held.map((piece) => this.#describe(piece)), grants };
  }

  receive(number: number, piece: HeldBytes): void {
    const held = this.of(number);
    if (piece.offset !== endOf(held)) throw new RefusalError("Conflict");
    held.push(piece);
  }

  /** Composes the part of its pieces, and forgets them, also where the part is not the expected one. */
  compose(number: number, expected: DigestFields & { readonly length: number }): Buffer {
    const bytes = Buffer.concat(this.of(number).map((piece) => piece.bytes));
    if (bytes.length !== expected.length) throw new RefusalError("PartsMissing");
    this.#held.delete(number);
    if (!hasDigest(bytes, expected)) throw new RefusalError("DigestMismatch");
    return bytes;
  }

  #describe({ offset, bytes }: HeldBytes): Piece {
    return { offset, length: bytes.length, ...digestBytes(bytes, this.#digest) };
  }
}

function endOf(held: readonly HeldBytes[]): number {
  return held.reduce((sum, { bytes }) => sum + bytes.length, 0);
}
