// An object in a bucket is imported by one request for all of it, which is read at the pace of the indexing, and few others, because each
// request takes a while before its first byte, and some buckets charge for it.

import type { RandomAccessSource } from "@downlink/recordings";
import type { BlobReader } from "../../store/blobs/blob-store.ts";

/** The end of a file describes its contents, and is read again and again. Files below this size are read at once. */
const END_BYTES = 1024 * 1024;
/** A smaller read is a request of its own. */
const LEAST_STREAMED_BYTES = 64 * 1024;
/** Skipping this many bytes takes less time than another request. */
const MOST_LEFT_OUT_BYTES = 256 * 1024;
/** One stream is for reading from the beginning to the end, and one for reads elsewhere meanwhile. */
const MOST_STREAMS = 2;

export type StreamedReader = Pick<BlobReader, "sizeBytes" | "read" | "stream">;

/** Returns a source of the same bytes: those that are read in order come from one streamed request. Disposing it ends running requests. */
export function streamSource(reader: StreamedReader): RandomAccessSource & Disposable {
  const { sizeBytes } = reader;
  const endStart = Math.max(0, sizeBytes - END_BYTES);
  /** The stream that was read last comes last. */
  let streams: OrderedStream[] = [];
  let end: Promise<Uint8Array> | undefined;
  const isInside = (offset: number, length: number) => offset >= 0 && length >= 0 && offset + length <= sizeBytes;
  const openStream = (offset: number): OrderedStream => {
    if (streams.length === MOST_STREAMS) streams.shift()!.endSoon();
    return new OrderedStream(reader, offset);
  };
  const fromStream = (stream: OrderedStream, offset: number, length: number): Promise<Uint8Array> => {
    const isOver = offset + length === sizeBytes;
    streams = [...streams.filter((other) => other !== stream), ...(isOver ? [] : [stream])];
    const reading = stream.read(offset, length);
    if (isOver) stream.endSoon();
    return reading;
  };
  return {
    sizeBytes,
    async read(offset, length) {
      if (!isInside(offset, length)) return await reader.read(offset, length);
      const stream = streams.find((each) => each.isNear(offset));
      if (stream) return await fromStream(stream, offset, length);
      if (offset >= endStart) {
        end ??= reader.read(endStart, sizeBytes - endStart);
        return new Uint8Array((await end).subarray(offset - endStart, offset - endStart + length));
      }
      if (length < LEAST_STREAMED_BYTES) return await reader.read(offset, length);
      return await fromStream(openStream(offset), offset, length);
    },
    [Symbol.dispose]() {
      for (const stream of streams) stream[Symbol.dispose]();
    },
  };
}

/** One request from an offset to the end of the object, which is read in order. */
class OrderedStream implements Disposable {
  readonly #pieces: AsyncIterator<Uint8Array>;
  readonly #ending = new AbortController();
  /** The offset at which the next read begins, and the offset that the stream has reached. */
  #expected: number;
  #position: number;
  #left: Uint8Array = new Uint8Array(0);
  #latest: Promise<unknown> = Promise.resolve();

  constructor({ stream, sizeBytes }: StreamedReader, start: number) {
    this.#expected = start;
    this.#position = start;
    this.#pieces = stream({ start, endInclusive: sizeBytes - 1 }, this.#ending.signal)[Symbol.asyncIterator]();
  }

  isNear(offset: number): boolean {
    return offset >= this.#expected && offset - this.#expected <= MOST_LEFT_OUT_BYTES;
  }

  read(offset: number, length: number): Promise<Uint8Array> {
    this.#expected = offset + length;
    const reading = this.#latest.then(() => this.#fill(Buffer.allocUnsafeSlow(length), offset));
    this.#latest = reading;
    reading.catch(() => {}); // its reader gets the error, and so does the next one
    return reading;
  }

  async #fill(bytes: Uint8Array, offset: number): Promise<Uint8Array> {
    for (let filled = 0; filled < bytes.byteLength; ) {
      if (this.#left.byteLength === 0) await this.#next();
      const skipped = Math.min(offset + filled - this.#position, this.#left.byteLength);
      const taken = this.#left.subarray(skipped, skipped + bytes.byteLength - filled);
      bytes.set(taken, filled);
      filled += taken.byteLength;
      this.#position += skipped + taken.byteLength;
      this.#left = this.#left.subarray(skipped + taken.byteLength);
    }
    return bytes;
  }

  async #next(): Promise<void> {
    const { done, value } = await this.#pieces.next();
    if (done) throw new Error(`the object's stream ended at byte ${this.#position}`);
    this.#left = value;
  }

  /** Ends the stream once all requested bytes are read. */
  endSoon(): void {
    const end = (): void => this[Symbol.dispose]();
    this.#latest.then(end, end);
  }

  [Symbol.dispose](): void {
    this.#ending.abort(new Error("the object is not read any more"));
    const close = () => this.#pieces.return?.();
    this.#latest.then(close, close).catch(() => {}); // no more of it is read
  }
}
