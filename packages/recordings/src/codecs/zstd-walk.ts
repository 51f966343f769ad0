import { isSkippable } from "./lz4-frames.ts";

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
  const held = Buffer.alloc(mostHeadBytes);
  let heldBytes = 0;
  let neededBytes = magicBytes;
  let skipBytes = 0;
  let part: "magic" | "skippable" | "head" | "block" | "trailer" = "magic";
  let hasChecksum = false;
  let state: ZstdWalk["state"] = "needsMore";
  let head: Uint8Array = new Uint8Array(0);

  const expect = (next: typeof part, bytes: number): void => {
    [part, neededBytes] = [next, bytes];
    if (next !== "head") heldBytes = 0;
  };
  const readMagic = (): void => {
    const magic = held.readUInt32LE(0);
    if (isSkippable(magic)) expect("skippable", 4);
    else if (magic === frameMagic) expect("head", magicBytes + 1);
    else state = "none";
  };
  const readHead = (): void => {
    const sizeBytes = headBytesOf(held[4]!);
    if (heldBytes < sizeBytes) {
      expect("head", sizeBytes);
      return;
    }
    hasChecksum = (held[4]! & 0x04) !== 0;
    head = new Uint8Array(held.subarray(0, sizeBytes));
    expect("block", blockHeadBytes);
    state = "begins";
  };
  const readBlock = (): void => {
    const block = held.readUIntLE(0, blockHeadBytes);
    const type = (block >> 1) & 3;
    if (type === reservedType) throw new Error("not a whole frame");
    skipBytes = type === repeatedType ? 1 : block >>> 3;
    const isLast = (block & 1) === 1;
    if (isLast && hasChecksum) skipBytes += 4;
    expect(isLast ? "trailer" : "block", isLast ? 0 : blockHeadBytes);
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
const frameMagic = 0xfd2fb528;
const blockHeadBytes = 3;
const mostHeadBytes = 18;
const repeatedType = 1;
const reservedType = 3;

function headBytesOf(descriptor: number): number {
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const sizeFlag = descriptor >> 6;
  const contentSizeBytes = sizeFlag === 0 ? Number(isSingleSegment) : 2 ** sizeFlag;
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 3]!;
  return magicBytes + 1 + Number(!isSingleSegment) + dictionaryBytes + contentSizeBytes;
}

/** What a decoder keeps of a frame's content to refer back to; `head`: the first bytes of the frame, up to 18. */
export function zstdWindowBytes(head: Uint8Array): number {
  const bytes = Buffer.alloc(mostHeadBytes);
  bytes.set(head.subarray(0, mostHeadBytes));
  const descriptor = bytes[4]!;
  if ((descriptor & 0x20) === 0) return 2 ** (10 + (bytes[5]! >> 3)) * (1 + (bytes[5]! & 7) / 8);
  const at = magicBytes + 1 + [0, 1, 2, 4][descriptor & 3]!;
  const sizeFlag = descriptor >> 6;
  if (sizeFlag === 0) return bytes[at]!;
  if (sizeFlag === 1) return bytes.readUInt16LE(at) + 256;
  return sizeFlag === 2 ? bytes.readUInt32LE(at) : Number(bytes.readBigUInt64LE(at));
}
