import type { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { GetObjectCommand, type GetObjectCommandOutput } from "@aws-sdk/client-s3";
import { BlobDamagedError, BlobNotFoundError } from "../blob-errors.ts";
import type { BlobReader, OpenOptions } from "../blob-store.ts";
import { readerOf, type Stretch } from "../buckets/object-reader.ts";
import { type Bucket, findObject, placeOf } from "./bucket.ts";
import { isS3Error } from "./s3-errors.ts";

/** Implements BlobStore.open. */
export async function openObject(bucket: Bucket, key: string, { endBytes = 0 }: OpenOptions = {}): Promise<BlobReader> {
  return (endBytes > 0 && (await openByEnd(bucket, key, endBytes))) || (await openByHead(bucket, key));
}

async function openByHead(bucket: Bucket, key: string): Promise<BlobReader> {
  const found = await findObject(bucket, key);
  if (!found) throw new BlobNotFoundError(key);
  return readerFor({ bucket, key, sizeBytes: found.ContentLength!, etag: found.ETag! });
}

/** The answer for the end says how large the whole object is. Returns undefined if it does not, or does not come whole. */
async function openByEnd(bucket: Bucket, key: string, endBytes: number): Promise<BlobReader | undefined> {
  const answer = await requestEnd(bucket, key, endBytes);
  const body = answer?.Body as Readable | undefined;
  const [, start, sizeBytes] = /^bytes (\d+)-\d+\/(\d+)$/.exec(answer?.ContentRange ?? "")?.map(Number) ?? [];
  if (!body || start === undefined || sizeBytes === undefined) {
    body?.on("error", () => {}).destroy();
    return undefined;
  }
  const end = await buffer(body).catch(() => undefined);
  if (end?.byteLength !== sizeBytes - start) return undefined;
  const reader = readerFor({ bucket, key, sizeBytes, etag: answer!.ETag! });
  return {
    ...reader,
    async read(offset, length) {
      const isInEnd = length >= 0 && offset >= start && offset + length <= sizeBytes && Number.isInteger(length);
      return isInEnd
        ? new Uint8Array(end.subarray(offset - start, offset - start + length))
        : reader.read(offset, length);
    },
  };
}

async function requestEnd(bucket: Bucket, key: string, endBytes: number): Promise<GetObjectCommandOutput | undefined> {
  try {
    return await bucket.client.send(new GetObjectCommand({ ...placeOf(bucket, key), Range: `bytes=-${endBytes}` }));
  } catch (error) {
    if (isS3Error(error, "InvalidRange")) return undefined; // an empty object has no end
    throw isS3Error(error, "NoSuchKey", "NotFound") ? new BlobNotFoundError(key) : error;
  }
}

interface FoundObject {
  readonly bucket: Bucket;
  readonly key: string;
  readonly sizeBytes: number;
  /** The bucket's own tag: every request is for this very object. */
  readonly etag: string;
}

function readerFor({ bucket, key, sizeBytes, etag }: FoundObject): BlobReader {
  return readerOf({ key, sizeBytes, request: (stretch) => requestStretch({ bucket, key, etag }, stretch) });
}

async function requestStretch(
  { bucket, key, etag }: Omit<FoundObject, "sizeBytes">,
  { start, end, signal }: Stretch,
): Promise<AsyncIterable<Uint8Array>> {
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
