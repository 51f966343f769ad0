import type { ReadContext } from "./read-context.ts";
import { readRange, refuseBeyond } from "./window-reader.ts";

/** Reads a range of the file in pieces of at most a megabyte. */
export async function* streamRange(
  context: ReadContext,
  offset: number,
  lengthBytes: number,
): AsyncGenerator<Uint8Array> {
  const { source, signal } = context;
  refuseBeyond({ offset, length: lengthBytes, sizeBytes: source.sizeBytes });
  using _ahead = source.expect?.([{ start: offset, end: offset + lengthBytes }]);
  for (let done = 0; done < lengthBytes; done += PIECE_BYTES) {
    signal?.throwIfAborted();
    yield await readRange(context, offset + done, Math.min(PIECE_BYTES, lengthBytes - done));
  }
}

const PIECE_BYTES = 1024 * 1024;
