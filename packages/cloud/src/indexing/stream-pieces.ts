/** Makes something and gives it piece by piece; it is to wait for `take` before it makes the next one. */
type MakePieces = (take: (piece: Uint8Array) => Promise<void>, stopped: AbortSignal) => Promise<void>;

/**
 * The pieces as a stream, made at the consumer's pace from its first demand on. It throws what the making throws; a consumer that
 * stops earlier ends the making, and hears once that is over.
 */
export async function* streamPieces(make: MakePieces): AsyncGenerator<Uint8Array> {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const stopping = new AbortController();
  const made = make((piece) => writer.write(piece), stopping.signal)
    .then(() => writer.close())
    .catch((error) => writer.abort(error)); // what consumes hears of it; one that has stopped wants to hear no more
  try {
    yield* readable;
  } finally {
    stopping.abort();
    await made;
  }
}
