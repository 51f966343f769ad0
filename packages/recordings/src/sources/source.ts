/** A recording's bytes at random access: a file, a buffer, a stored object. */
export interface RandomAccessSource {
  readonly sizeBytes: number;
  /** Exactly `length` bytes from `offset` in a buffer of their own, or an error. */
  read(offset: number, length: number): Promise<Uint8Array>;
  /** An open file with the same bytes, which threads read themselves. It is valid as long as the source is open. */
  readonly descriptor?: number;
  /**
   * Announces what is read next, about in this order, until the result is disposed of. A source whose requests take long fetches it ahead,
   * neighbours at once. Reading something else, or nothing of it, does no harm.
   */
  expect?(ranges: Iterable<SourceRange>): Disposable;
}

/** The bytes from `start` to the one before `end`. */
export interface SourceRange {
  readonly start: number;
  readonly end: number;
}

/** The source has fewer bytes than it said when it was opened: it was cut or replaced meanwhile. */
export class SourceChangedError extends Error {
  constructor(text: string) {
    super(text);
    this.name = "SourceChangedError";
  }
}

export function bytesSource(bytes: Uint8Array): RandomAccessSource {
  return {
    sizeBytes: bytes.byteLength,
    async read(offset, length) {
      if (!isInside(offset, length, bytes.byteLength)) {
        throw new SourceChangedError(`bytes ${offset}..${offset + length} lie outside of ${bytes.byteLength} bytes`);
      }
      // `slice()` of a Buffer would be a view and not a copy.
      return new Uint8Array(bytes.subarray(offset, offset + length));
    },
  };
}

/** Counts what is read through it. Tests of how little is read use it. */
export function countReads(
  source: RandomAccessSource,
): RandomAccessSource & { readonly bytesRead: number; readonly reads: number } {
  let bytesRead = 0;
  let reads = 0;
  return {
    sizeBytes: source.sizeBytes,
    get bytesRead() {
      return bytesRead;
    },
    get reads() {
      return reads;
    },
    read(offset, length) {
      reads += 1;
      bytesRead += length;
      return source.read(offset, length);
    },
  };
}

export function isInside(offset: number, length: number, sizeBytes: number): boolean {
  return offset >= 0 && length >= 0 && offset + length <= sizeBytes;
}

/** Whether these are the last bytes of the source. */
export async function endsWith(source: RandomAccessSource, end: Uint8Array): Promise<boolean> {
  const { byteLength } = end;
  if (source.sizeBytes < byteLength) return false;
  return Buffer.from(end).equals(await source.read(source.sizeBytes - byteLength, byteLength));
}

/** The bytes of a source from `start` on. Closing it closes nothing. */
export function sourceFrom(source: RandomAccessSource, start: number): RandomAccessSource {
  return { sizeBytes: source.sizeBytes - start, read: (offset, length) => source.read(start + offset, length) };
}

/** The same source for a reader that closes what it reads: closing what is lent closes nothing. */
export function lend(source: RandomAccessSource): RandomAccessSource & AsyncDisposable {
  const { sizeBytes, descriptor } = source;
  const read = source.read.bind(source);
  return { sizeBytes, read, ...(descriptor !== undefined && { descriptor }), [Symbol.asyncDispose]: async () => {} };
}
