import type { BlobReader, ByteRange } from "../../store/blobs/blob-store.ts";

/** The part of a stored object that is sent: all of it, or a slice. */
export type Sendable = Pick<BlobReader, "sizeBytes" | "stream" | typeof Symbol.asyncDispose>;

/** Makes a part of an object look like an object of its own, such as an attachment of a recording. Closing it closes the object. */
export function sliceOf(object: BlobReader, { offset, sizeBytes }: { offset: number; sizeBytes: number }): Sendable {
  return {
    sizeBytes,
    stream: ({ start, endInclusive }: ByteRange = { start: 0, endInclusive: sizeBytes - 1 }, signal) =>
      object.stream({ start: offset + start, endInclusive: offset + endInclusive }, signal),
    [Symbol.asyncDispose]: () => object[Symbol.asyncDispose](),
  };
}
