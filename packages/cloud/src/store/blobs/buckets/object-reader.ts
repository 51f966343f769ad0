import { setTimeout as delay } from "node:timers/promises";
import { BlobDamagedError } from "../blob-errors.ts";
import type { BlobReader } from "../blob-store.ts";
import { BucketUnavailableError } from "./bucket-unavailable.ts";

const PIECE_BYTES = 256 * 1024;
/** The most breaks one after the other without a byte in between. */
const MOST_BREAKS = 5;
const FIRST_WAIT_MS = 100;

export interface OpenObject {
  readonly key: string;
  readonly sizeBytes: number;
  /**
   * Requests a stretch of this very object. Throws `BlobNotFoundError`, and {@link BlobDamagedError} if another object has the key now or
   * this one is shorter.
   */
  request(stretch: Stretch): Promise<AsyncIterable<Uint8Array>>;
}

export interface Stretch {
  readonly start: number;
  /** The first byte that is not wanted. */
  readonly end: number;
  readonly signal: AbortSignal | undefined;
}

/** Reads an object; a request is for as many bytes as the caller asks for at once. */
export function readerOf(object: OpenObject): BlobReader {
  const { sizeBytes } = object;
  return {
    sizeBytes,
    read: (offset, length) => readExactly(object, offset, length),
    stream: (range = { start: 0, endInclusive: sizeBytes - 1 }, signal) =>
      streamStretch(object, { start: range.start, end: range.endInclusive + 1, signal }),
    [Symbol.asyncDispose]: async () => {},
  };
}

async function readExactly(object: OpenObject, offset: number, length: number): Promise<Uint8Array> {
  const isInside = Number.isSafeInteger(offset) && Number.isSafeInteger(length) && offset >= 0 && length >= 0;
  if (!isInside || offset + length > object.sizeBytes)
    throw new RangeError(`no ${length} bytes at ${offset} in an object of ${object.sizeBytes}`);
  const bytes = Buffer.allocUnsafeSlow(length); // memory of its own: the caller may keep it without keeping a whole pool alive
  let filled = 0;
  for await (const piece of streamStretch(object, { start: offset, end: offset + length, signal: undefined })) {
    bytes.set(piece, filled);
    filled += piece.byteLength;
  }
  return bytes;
}

/** Sends one request; if its answer breaks off, another one follows for the rest. */
async function* streamStretch(object: OpenObject, { start, end, signal }: Stretch): AsyncGenerator<Uint8Array, void> {
  let breaks = 0;
  for (let offset = start; offset < end; ) {
    signal?.throwIfAborted();
    const body = await object.request({ start: offset, end, signal });
    const begun = offset;
    let reason: unknown = new BlobDamagedError(object.key);
    try {
      for await (const piece of splitIntoPieces(body)) {
        signal?.throwIfAborted();
        offset += piece.byteLength;
        yield piece;
      }
    } catch (error) {
      signal?.throwIfAborted();
      reason = error;
    }
    if (offset >= end) return;
    breaks = offset > begun ? 1 : breaks + 1;
    if (breaks > MOST_BREAKS) throw isBreak(reason, object.key);
    await delay(FIRST_WAIT_MS * 2 ** (breaks - 1));
  }
}

function isBreak(reason: unknown, key: string): unknown {
  if (reason instanceof BlobDamagedError) return reason;
  return new BucketUnavailableError(`the bucket broke off the object ${key} again and again`, reason);
}

async function* splitIntoPieces(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  for await (const chunk of body)
    for (let offset = 0; offset < chunk.byteLength; offset += PIECE_BYTES)
      yield chunk.subarray(offset, offset + PIECE_BYTES);
}
