import type { Transform } from "node:stream";
import { freeOwn } from "../memory/free-memory.ts";

/**
 * Answers what a coder makes of pieces. The memory of a piece is given back as soon as the coder has taken it in: left to the garbage
 * collector, many megabytes a second would pile up.
 */
export async function* feedStream(pieces: AsyncIterable<Uint8Array>, coder: Transform): AsyncGenerator<Uint8Array> {
  void feed(pieces, coder);
  yield* coder as AsyncIterable<Uint8Array>;
}

/** A failure destroys the coder, whose reader then gets the error. */
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
