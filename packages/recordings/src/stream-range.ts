import type { ReadContext } from "./read-context.ts";
import { refuseBeyond } from "./window-reader.ts";

/** A range of the file in pieces of at most a megabyte. */
export async function* streamRange(
  { source, signal }: Pick<ReadContext, "source" | "signal">,
  offset: number,
  lengthBytes: number,
): AsyncGenerator<Uint8Array> {
  refuseBeyond({ offset, length: lengthBytes, sizeBytes: source.sizeBytes });
  for (let done = 0; done < lengthBytes; done += pieceBytes) {
    signal?.throwIfAborted();
    yield await source.read(offset + done, Math.min(pieceBytes, lengthBytes - done));
  }
}

const pieceBytes = 1024 * 1024;
