import type { Transform } from "node:stream";
import { freeOwn } from "../memory/free-memory.ts";

/**
 * What a coder makes of pieces, whose memory is given back as soon as it has taken them in: left to the collector, that of many megabytes
 * a second would pile up.
 */
export async function* feedStream(pieces: AsyncIterable<Uint8Array>, coder: Transform): AsyncGenerator<Uint8Array> {
  void feed(pieces, coder);
  yield* coder as AsyncIterable<Uint8Array>;
}

/** A failure is the coder's, and thrown by that. */
async function feed(pieces: AsyncIterable<Uint8Array>, coder: Transform): Promise<void> {
  try {
    for await (const piece of pieces) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      coder.write(piece, (error) => (error ? reject(error) : resolve()));
      await promise;
      freeOwn(piece);
    }
    coder.end();
  } catch (error) {
    coder.destroy(error as Error);
  }
}
