/** Makes something and passes it on piece by piece; it waits for `take` before it makes the next piece. */
type MakePieces = (take: (piece: Uint8Array) => Promise<void>, stopped: AbortSignal) => Promise<void>;

/**
 * Yields the pieces as a stream, made at the consumer's pace from its first request on. It throws what the making throws; a consumer that
 * stops early ends the making, and continues once that has ended.
 */
export async function* streamPieces(make: MakePieces): AsyncGenerator<Uint8Array> {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const stopping = new AbortController();
  const made = make((piece) => writer.write(piece), stopping.signal)
    .then(() => writer.close())
    .catch((error) => writer.abort(error)); // the consumer gets the error, unless it has stopped
  try {
    yield* readable;
  } finally {
    stopping.abort();
    await made;
  }
}
