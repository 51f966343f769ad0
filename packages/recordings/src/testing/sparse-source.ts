import type { RandomAccessSource } from "../sources/source.ts";

/** A file of any size that is zero but for some pieces: recordings of many gigabytes that cost nothing. */
export function sparseSource(
  sizeBytes: number,
  pieces: readonly { offset: number; bytes: Uint8Array }[],
): RandomAccessSource {
  return {
    sizeBytes,
    async read(offset, length) {
      if (offset < 0 || length < 0 || offset + length > sizeBytes)
        throw new RangeError(`${offset}..${offset + length}`);
      const read = new Uint8Array(length);
      for (const piece of pieces) {
        const from = Math.max(offset, piece.offset);
        const to = Math.min(offset + length, piece.offset + piece.bytes.byteLength);
        if (from < to) read.set(piece.bytes.subarray(from - piece.offset, to - piece.offset), from - offset);
      }
      return read;
    },
  };
}
