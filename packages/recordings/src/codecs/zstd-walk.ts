import { isSkippable } from "./find-frames.ts";
import {
  MOST_ZSTD_HEAD_BYTES,
  readZstdBlock,
  ZSTD_BLOCK_HEAD_BYTES,
  ZSTD_MAGIC,
  zstdHeadBytes,
  zstdTrailerBytes,
} from "./zstd-format.ts";

/** The frame at the place where the walk is. */
type Part = "magic" | "skippable" | "head" | "block" | "trailer";

/**
 * Finds frames in bytes that come piece by piece. The head of a frame, the head of a block and a block itself may each begin in one piece
 * and end in another. spec: RFC 8878 §3.1
 */
export class ZstdWalk {
  /** The outcome of `push`: the next frame begins, one has ended, no frame stands there, or it needs more bytes. */
  state: "begins" | "ended" | "none" | "needsMore" = "needsMore";
  /** The head of the frame that is being walked: it was read together with the magic, and may have begun in an earlier piece. */
  head: Uint8Array = new Uint8Array(0);
  #part: Part = "magic";
  /** The bytes of the part so far, and how many it takes. */
  readonly #held = Buffer.alloc(MOST_ZSTD_HEAD_BYTES);
  #heldBytes = 0;
  #neededBytes = MAGIC_BYTES;
  /** How many bytes are passed over before the part begins. */
  #skipBytes = 0;
  #trailerBytes = 0;

  /** Looks on from `from` in a piece; answers where in it the walk stands. */
  push(piece: Uint8Array, from: number): number {
    this.state = "needsMore";
    let at = from;
    while (this.state === "needsMore") {
      at = this.#gather(piece, at);
      if (this.#skipBytes > 0 || this.#heldBytes < this.#neededBytes) break;
      this.#read();
    }
    return at;
  }

  /** Takes the bytes of the part out of a piece. */
  #gather(piece: Uint8Array, from: number): number {
    const skipped = Math.min(this.#skipBytes, piece.byteLength - from);
    this.#skipBytes -= skipped;
    let at = from + skipped;
    if (this.#skipBytes > 0) return at;
    while (this.#heldBytes < this.#neededBytes && at < piece.byteLength) {
      this.#held[this.#heldBytes] = piece[at]!;
      this.#heldBytes += 1;
      at += 1;
    }
    return at;
  }

  #read(): void {
    if (this.#part === "magic") this.#readMagic();
    else if (this.#part === "head") this.#readHead();
    else if (this.#part === "block") this.#readBlock();
    else {
      if (this.#part === "skippable") this.#skipBytes = this.#held.readUInt32LE(0);
      else this.state = "ended";
      this.#expect("magic", MAGIC_BYTES);
    }
  }

  #readMagic(): void {
    const magic = this.#held.readUInt32LE(0);
    if (isSkippable(magic)) this.#expect("skippable", 4);
    else if (magic === ZSTD_MAGIC) this.#expect("head", MAGIC_BYTES + 1);
    else this.state = "none";
  }

  #readHead(): void {
    const descriptor = this.#held[MAGIC_BYTES]!;
    const sizeBytes = zstdHeadBytes(descriptor);
    if (this.#heldBytes < sizeBytes) {
      this.#expect("head", sizeBytes);
      return;
    }
    this.#trailerBytes = zstdTrailerBytes(descriptor);
    this.head = new Uint8Array(this.#held.subarray(0, sizeBytes));
    this.#expect("block", ZSTD_BLOCK_HEAD_BYTES);
    this.state = "begins";
  }

  #readBlock(): void {
    const { storedBytes, isReserved, isLast } = readZstdBlock(this.#held.readUIntLE(0, ZSTD_BLOCK_HEAD_BYTES));
    if (isReserved) throw new Error("not a whole frame");
    this.#skipBytes = storedBytes + (isLast ? this.#trailerBytes : 0);
    if (isLast) this.#expect("trailer", 0);
    else this.#expect("block", ZSTD_BLOCK_HEAD_BYTES);
  }

  /** A head continues the magic, which is held already. */
  #expect(part: Part, neededBytes: number): void {
    this.#part = part;
    this.#neededBytes = neededBytes;
    if (part !== "head") this.#heldBytes = 0;
  }
}

const MAGIC_BYTES = 4;
