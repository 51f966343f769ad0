import { freeOwn } from "../memory/free-memory.ts";
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
      const first = lastAtOrBefore(starts, offset);
      const [only, start] = [pieces[first], offset - (starts[first] ?? 0)];
      // Copying would take as much memory and time once more.
      if (only && !(only instanceof Uint8Array) && start + length <= only.length)
        return only.source.read(only.offset + start, length);
      const read = new Uint8Array(length);
      for (let index = first, done = 0; done < length; index += 1) {
        const [piece, from] = [pieces[index]!, offset + done - starts[index]!];
        const wanted = Math.min(length - done, lengthOf(piece) - from);
        await copyPiece(piece, from, read.subarray(done, done + wanted));
        done += wanted;
      }
      return read;
    },
  };
}

function lengthOf(piece: Piece): number {
  return piece instanceof Uint8Array ? piece.byteLength : piece.length;
}

async function copyPiece(piece: Piece, from: number, to: Uint8Array): Promise<void> {
  if (piece instanceof Uint8Array) return to.set(piece.subarray(from, from + to.byteLength));
  const read = await piece.source.read(piece.offset + from, to.byteLength);
  to.set(read);
  freeOwn(read);
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
