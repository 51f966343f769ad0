import { setTimeout as delay } from "node:timers/promises";
import { GetObjectCommand } from "@aws-sdk/client-s3";
import { BlobDamagedError, BlobNotFoundError } from "../blob-errors.ts";
import type { BlobReader } from "../blob-store.ts";
import { type Bucket, findObject, placeOf } from "./bucket.ts";
import { BucketUnavailableError, isS3Error } from "./s3-errors.ts";

const PIECE_BYTES = 256 * 1024;
/** So many breaks one after the other without a byte in between. */
const MOST_BREAKS = 5;
const FIRST_WAIT_MS = 100;

interface OpenObject {
  readonly bucket: Bucket;
  readonly key: string;
  readonly sizeBytes: number;
  /** Of the bucket: every request is for this very object. */
  readonly etag: string;
}

interface Stretch {
  readonly start: number;
  readonly end: number;
  readonly signal: AbortSignal | undefined;
}

/** BlobStore.open. A request is for as many bytes as the caller asks for at once. */
export async function openObject(bucket: Bucket, key: string): Promise<BlobReader> {
  const found = await findObject(bucket, key);
  if (!found) throw new BlobNotFoundError(key);
  const sizeBytes = found.ContentLength!;
  const object = { bucket, key, sizeBytes, etag: found.ETag! };
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
  const bytes = Buffer.allocUnsafeSlow(length); // its own memory: the caller may keep it without keeping a pool alive
  let filled = 0;
  for await (const piece of streamStretch(object, { start: offset, end: offset + length, signal: undefined })) {
    bytes.set(piece, filled);
    filled += piece.byteLength;
  }
  return bytes;
}

/** One request; where its answer breaks off, another one for the rest. */
async function* streamStretch(object: OpenObject, { start, end, signal }: Stretch): AsyncGenerator<Uint8Array, void> {
  let breaks = 0;
  for (let offset = start; offset < end; ) {
    signal?.throwIfAborted();
    const body = await requestBody(object, { start: offset, end, signal });
    const begun = offset;
    let reason: unknown = new BlobDamagedError(object.key);
    try {
      for await (const piece of inPieces(body)) {
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

async function requestBody({ bucket, key, etag }: OpenObject, { start, end, signal }: Stretch) {
  const range = { Range: `bytes=${start}-${end - 1}`, IfMatch: etag };
  try {
    const options = signal ? { abortSignal: signal } : {};
    const { Body } = await bucket.client.send(new GetObjectCommand({ ...placeOf(bucket, key), ...range }), options);
    return Body as AsyncIterable<Uint8Array>;
  } catch (error) {
    signal?.throwIfAborted();
    if (isS3Error(error, "NoSuchKey", "NotFound")) throw new BlobNotFoundError(key);
    if (isS3Error(error, "PreconditionFailed", "InvalidRange")) throw new BlobDamagedError(key);
    throw error;
  }
}

async function* inPieces(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  for await (const chunk of body)
    for (let offset = 0; offset < chunk.byteLength; offset += PIECE_BYTES)
      yield chunk.subarray(offset, offset + PIECE_BYTES);
}
