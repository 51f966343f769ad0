import { BlobTooLargeError, DigestMismatchError } from "./blob-errors.ts";
import type { PutOptions } from "./blob-store.ts";

/** Passes the pieces of a body on until they are more than is accepted or announced. It ends only with the announced length. */
export async function* checkLength(
  body: AsyncIterable<Uint8Array>,
  { maxBytes = Number.POSITIVE_INFINITY, expectedBytes }: PutOptions,
): AsyncGenerator<Uint8Array, void> {
  let sizeBytes = 0;
  for await (const piece of body) {
    sizeBytes += piece.byteLength;
    if (sizeBytes > maxBytes) throw new BlobTooLargeError(maxBytes);
    if (expectedBytes !== undefined && sizeBytes > expectedBytes)
      throw new DigestMismatchError(`${expectedBytes} bytes were announced, more came`);
    yield piece;
  }
  if (expectedBytes !== undefined && sizeBytes < expectedBytes)
    throw new DigestMismatchError(`${expectedBytes} bytes were announced, ${sizeBytes} came`);
}
