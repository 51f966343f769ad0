import { createHash, type Hash } from "node:crypto";
import type { RandomAccessSource } from "@downlink/recordings";

export interface Part {
  /** From 1. */
  readonly number: number;
  readonly offset: number;
  readonly length: number;
}

export function partsOf(sizeBytes: number, partSize: number): Part[] {
  const count = Math.ceil(sizeBytes / partSize);
  return Array.from({ length: count }, (_, index) => {
    const offset = index * partSize;
    return { number: index + 1, offset, length: Math.min(partSize, sizeBytes - offset) };
  });
}

const HASH_BLOCK_BYTES = 1024 * 1024;
const SEND_BLOCK_BYTES = 256 * 1024;

/** Hashes of one version of a file, part after part; outlives a failed try, so that the next need not read again. */
export interface PartHashes {
  /** Wall time at which the first byte was not read yet. */
  readonly begunNs: bigint;
  /** The part's MD5 in base 64. Parts must first be asked for in order. */
  md5Of(source: RandomAccessSource, part: Part): Promise<string>;
  /** Of all bytes, hexadecimal; once every part was asked for. */
  sha256(): string;
}

export function createPartHashes(begunNs: bigint): PartHashes {
  let whole: Hash = createHash("sha256");
  const md5s: string[] = [];
  return {
    begunNs,
    async md5Of(source, part) {
      const known = md5s[part.number - 1];
      if (known !== undefined) return known;
      if (part.number !== md5s.length + 1) throw new RangeError(`part ${part.number} is not the next`);
      const md5 = createHash("md5");
      const next = whole.copy(); // Kept only when the part was read to its end.
      for await (const block of readPart(source, part, HASH_BLOCK_BYTES)) {
        md5.update(block);
        next.update(block);
      }
      whole = next;
      md5s.push(md5.digest("base64"));
      return md5s[part.number - 1]!;
    },
    sha256: () => whole.copy().digest("hex"),
  };
}

/** A part is read twice, once for its MD5, which must be known before it is sent: the second time from the page cache. */
export async function* readPart(
  source: RandomAccessSource,
  { offset, length }: Part,
  blockBytes = SEND_BLOCK_BYTES,
): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < length; at += blockBytes) {
    yield await source.read(offset + at, Math.min(blockBytes, length - at));
  }
}
