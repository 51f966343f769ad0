/** A stream of pieces as one buffer. */
export async function collect(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  return Buffer.concat(await Array.fromAsync(pieces, (piece) => piece));
}
