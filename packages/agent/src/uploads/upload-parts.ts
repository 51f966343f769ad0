import { createHash, type Hash } from "node:crypto";
import { type DigestAlgorithm, makeDigest } from "@downlink/protocol";
import type { FileSource } from "@downlink/recordings";

export interface ByteRange {
  readonly offset: number;
  readonly length: number;
}

export interface Part extends ByteRange {
  /** Parts are numbered from 1. */
  readonly number: number;
}

export function partsOf(sizeBytes: number, partSize: number): Part[] {
  const count = Math.ceil(sizeBytes / partSize);
  return Array.from({ length: count }, (_, index) => {
    const offset = index * partSize;
    return { number: index + 1, offset, length: Math.min(partSize, sizeBytes - offset) };
  });
}

const BLOCK_BYTES = 256 * 1024;
/** Blocks of a part that is being sent: a stream and a connection hold less than two of them, and one is being read. */
const BLOCKS = 4;

/** The size and the kind of digest of the parts. */
export interface HashPlan {
  readonly partSize: number;
  readonly digest: DigestAlgorithm;
}

/** Hashes one version of a file, part after part. It outlives a failed try, so that the next one need not read again. */
export interface PartHashes {
  /** The wall time before the first byte was read. */
  readonly begunNs: bigint;
  /** Returns the part's digest (`makeDigest`). The first time, parts must be asked for in their order. */
  digestOf(source: FileSource, part: Part): Promise<string>;
  /** Returns the hexadecimal hash of all bytes, once every part was asked for. */
  sha256(): string;
}

export function createPartHashes(begunNs: bigint, algorithm: DigestAlgorithm): PartHashes {
  let whole: Hash = createHash("sha256");
  const digests: string[] = [];
  return {
    begunNs,
    async digestOf(source, part) {
      const known = digests[part.number - 1];
      if (known !== undefined) return known;
      if (part.number !== digests.length + 1) throw new RangeError(`part ${part.number} is not the next`);
      const ofPart = createHash(algorithm);
      const next = whole.copy(); // The copy is kept only when the part was read to its end.
      for await (const block of readRange(source, part, 1)) {
        ofPart.update(block);
        next.update(block);
      }
      whole = next;
      digests.push(makeDigest(algorithm, ofPart.digest("base64")));
      return digests[part.number - 1]!;
    },
    sha256: () => whole.copy().digest("hex"),
  };
}

/** Hashes a range; the digest has the form of `makeDigest`. */
export async function hashRange(source: FileSource, range: ByteRange, algorithm: DigestAlgorithm): Promise<string> {
  const hash = createHash(algorithm);
  for await (const block of readRange(source, range, 1)) hash.update(block);
  return makeDigest(algorithm, hash.digest("base64"));
}

/**
 * Reads a range block by block. A part is read twice: first for its digest, which must be known before the part is sent, then from the page
 * cache. A block is valid until `blocks` more were asked for. New memory for each block would cost more CPU time in garbage collection than
 * hashing and sending take.
 */
export async function* readRange(
  source: FileSource,
  { offset, length }: ByteRange,
  blocks = BLOCKS,
): AsyncGenerator<Uint8Array> {
  const memory = Buffer.allocUnsafeSlow(Math.min(length, blocks * BLOCK_BYTES));
  for (let at = 0; at < length; at += BLOCK_BYTES) {
    const start = at % (blocks * BLOCK_BYTES);
    const block = memory.subarray(start, start + Math.min(BLOCK_BYTES, length - at));
    await source.readInto(block, offset + at);
    yield block;
  }
}
