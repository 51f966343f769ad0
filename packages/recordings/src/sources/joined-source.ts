import { isInside, type RandomAccessSource, SourceChangedError } from "./source.ts";

/** Bytes in memory, or a range of a source. */
export type Piece =
  | Uint8Array
  | { readonly source: RandomAccessSource; readonly offset: number; readonly length: number };

/** Some pieces one behind the other, read as one source. Closing them is the caller's. */
export function joinPieces(pieces: readonly Piece[]): RandomAccessSource {
  const starts: number[] = [];
  let sizeBytes = 0;
  for (const piece of pieces) {
    starts.push(sizeBytes);
    sizeBytes += lengthOf(piece);
  }
  return {
    sizeBytes,
    async read(offset, length) {
      if (!isInside(offset, length, sizeBytes))
        throw new SourceChangedError(`bytes ${offset}..${offset + length} lie outside of ${sizeBytes} bytes`);
      const read = new Uint8Array(length);
      for (let index = lastAtOrBefore(starts, offset), done = 0; done < length; index += 1) {
        const [piece, from] = [pieces[index]!, offset + done - starts[index]!];
        const wanted = Math.min(length - done, lengthOf(piece) - from);
        read.set(await readPiece(piece, from, wanted), done);
        done += wanted;
      }
      return read;
    },
  };
}

function lengthOf(piece: Piece): number {
  return piece instanceof Uint8Array ? piece.byteLength : piece.length;
}

async function readPiece(piece: Piece, from: number, length: number): Promise<Uint8Array> {
  if (piece instanceof Uint8Array) return piece.subarray(from, from + length);
  return piece.source.read(piece.offset + from, length);
}

/** `starts` are in order, and the first is 0. */
function lastAtOrBefore(starts: readonly number[], offset: number): number {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (starts[middle]! <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}
