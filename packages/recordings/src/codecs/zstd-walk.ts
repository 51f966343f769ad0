import { isSkippable } from "./find-frames.ts";
import {
  mostZstdHeadBytes,
  readZstdBlock,
  zstdBlockHeadBytes,
  zstdHeadBytes,
  zstdMagic,
  zstdTrailerBytes,
} from "./zstd-format.ts";

/** Finds frames in bytes that come piece by piece. spec: RFC 8878 §3.1 */
export interface ZstdWalk {
  /** Looks on from `from` in a piece; answers where in it the walk stands. */
  push(piece: Uint8Array, from: number): number;
  /** What `push` came to: the next frame begins, one has ended, no frame stands there, or it needs more bytes. */
  readonly state: "begins" | "ended" | "none" | "needsMore";
  /** The head of the frame that is being walked: it was read together with the magic, and may have begun in an earlier piece. */
  readonly head: Uint8Array;
}

/** Bytes of a frame's head, of a block's head, or of a block, are seen in whichever parts they come. */
export function createZstdWalk(): ZstdWalk {
  const held = Buffer.alloc(mostZstdHeadBytes);
  let heldBytes = 0;
  let neededBytes = magicBytes;
  let skipBytes = 0;
  let part: "magic" | "skippable" | "head" | "block" | "trailer" = "magic";
  let trailerBytes = 0;
  let state: ZstdWalk["state"] = "needsMore";
  let head: Uint8Array = new Uint8Array(0);

  const expect = (next: typeof part, bytes: number): void => {
    [part, neededBytes] = [next, bytes];
    if (next !== "head") heldBytes = 0;
  };
  const readMagic = (): void => {
    const magic = held.readUInt32LE(0);
    if (isSkippable(magic)) expect("skippable", 4);
    else if (magic === zstdMagic) expect("head", magicBytes + 1);
    else state = "none";
  };
  const readHead = (): void => {
    const sizeBytes = zstdHeadBytes(held[4]!);
    if (heldBytes < sizeBytes) {
      expect("head", sizeBytes);
      return;
    }
    trailerBytes = zstdTrailerBytes(held[4]!);
    head = new Uint8Array(held.subarray(0, sizeBytes));
    expect("block", zstdBlockHeadBytes);
    state = "begins";
  };
  const readBlock = (): void => {
    const { storedBytes, isReserved, isLast } = readZstdBlock(held.readUIntLE(0, zstdBlockHeadBytes));
    if (isReserved) throw new Error("not a whole frame");
    skipBytes = storedBytes + (isLast ? trailerBytes : 0);
    expect(isLast ? "trailer" : "block", isLast ? 0 : zstdBlockHeadBytes);
  };
  const read = (): void => {
    if (part === "magic") readMagic();
    else if (part === "head") readHead();
    else if (part === "block") readBlock();
    else if (part === "skippable") {
      skipBytes = held.readUInt32LE(0);
      expect("magic", magicBytes);
    } else {
      expect("magic", magicBytes);
      state = "ended";
    }
  };
  return {
    push(piece, from) {
      state = "needsMore";
      let at = from;
      while (state === "needsMore") {
        const skipped = Math.min(skipBytes, piece.byteLength - at);
        at += skipped;
        skipBytes -= skipped;
        while (skipBytes === 0 && heldBytes < neededBytes && at < piece.byteLength) {
          held[heldBytes] = piece[at]!;
          heldBytes += 1;
          at += 1;
        }
        if (skipBytes > 0 || heldBytes < neededBytes) break;
        read();
      }
      return at;
    },
    get state() {
      return state;
    },
    get head() {
      return head;
    },
  };
}

const magicBytes = 4;
