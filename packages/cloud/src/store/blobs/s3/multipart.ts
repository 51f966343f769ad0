import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  ListMultipartUploadsCommand,
  ListPartsCommand,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import type { Multipart, PartBytes, StoredPart } from "../buckets/bucket-client.ts";
import { BucketUnavailableError } from "../buckets/bucket-unavailable.ts";
import { type Bucket, placeOf } from "./bucket.ts";
import { isGone } from "./s3-errors.ts";

const MOST_ABORTS = 10;
const WAIT_MS = 200;

export async function beginMultipart(bucket: Bucket, key: string, metadata: Record<string, string> = {}) {
  const begin = new CreateMultipartUploadCommand({ ...placeOf(bucket, key), Metadata: metadata });
  const { UploadId } = await bucket.client.send(begin);
  return { key, uploadId: UploadId! };
}

export async function sendPart(
  bucket: Bucket,
  { key, uploadId }: Multipart,
  { number, bytes, md5 }: PartBytes,
): Promise<CompletedPart> {
  const { ETag } = await bucket.client.send(
    new UploadPartCommand({
      ...placeOf(bucket, key),
      UploadId: uploadId,
      PartNumber: number,
      Body: bytes,
      ContentMD5: md5 ?? md5Of(bytes),
    }),
  );
  return { PartNumber: number, ETag: ETag! };
}

export function md5Of(bytes: Uint8Array): string {
  return createHash("md5").update(bytes).digest("base64");
}

/** Lists the parts in the order of their numbers, page by page; undefined if the bucket has no such upload. */
export async function listStoredParts(bucket: Bucket, { key, uploadId }: Multipart): Promise<StoredPart[] | undefined> {
  const parts: StoredPart[] = [];
  for (let marker: string | undefined; ; ) {
    const page = await listPage(bucket, { key, uploadId }, marker === undefined ? {} : { PartNumberMarker: marker });
    if (!page) return undefined;
    for (const { PartNumber, ETag, Size, LastModified } of page.Parts ?? [])
      parts.push({ number: PartNumber!, etag: ETag!, sizeBytes: Size!, storedAtMs: LastModified?.getTime() ?? 0 });
    if (!page.IsTruncated) return parts;
    marker = page.NextPartNumberMarker;
  }
}

/** Says whether the bucket has the part; undefined if it has no such upload. */
export async function hasStoredPart(bucket: Bucket, upload: Multipart, number: number): Promise<boolean | undefined> {
  const page = await listPage(bucket, upload, { PartNumberMarker: String(number - 1), MaxParts: 1 });
  return page?.Parts?.some(({ PartNumber }) => PartNumber === number) ?? (page && false);
}

async function listPage(
  bucket: Bucket,
  { key, uploadId }: Multipart,
  page: { PartNumberMarker?: string; MaxParts?: number },
) {
  try {
    return await bucket.client.send(new ListPartsCommand({ ...placeOf(bucket, key), UploadId: uploadId, ...page }));
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

/** Joins the parts into the object, unless another one has the key already. */
export async function joinParts(bucket: Bucket, { key, uploadId }: Multipart, parts: CompletedPart[]): Promise<void> {
  const place = placeOf(bucket, key);
  const MultipartUpload = { Parts: parts };
  await bucket.client.send(
    new CompleteMultipartUploadCommand({ ...place, UploadId: uploadId, MultipartUpload, IfNoneMatch: "*" }),
  );
}

/** After this the upload neither holds a byte nor can become the object: parts in flight may outlive an abort. */
export async function abortMultipart(bucket: Bucket, upload: Multipart): Promise<void> {
  const { key, uploadId } = upload;
  for (let attempt = 1; attempt <= MOST_ABORTS; attempt++) {
    try {
      await bucket.client.send(new AbortMultipartUploadCommand({ ...placeOf(bucket, key), UploadId: uploadId }));
    } catch (error) {
      if (isGone(error)) return;
      throw error;
    }
    if (!(await listPage(bucket, upload, { MaxParts: 1 }))) return;
    await delay(WAIT_MS * attempt);
  }
  throw new BucketUnavailableError(`the bucket keeps parts of ${key} after ${MOST_ABORTS} aborts`, undefined);
}

/** Aborts all uploads of the key, even those that are not known because the answer to their beginning was lost. */
export async function abortMultiparts(bucket: Bucket, key: string): Promise<void> {
  for await (const upload of listMultiparts(bucket, key)) if (upload.key === key) await abortMultipart(bucket, upload);
}

/** Lists all uploads that the bucket has under this beginning of a key, also those that other programs began. */
export async function* listMultiparts(
  bucket: Bucket,
  prefix: string,
): AsyncGenerator<Multipart & { readonly startedAtMs: number }, void> {
  const all = { Bucket: bucket.name, Prefix: bucket.prefix + prefix };
  for (let marker: { KeyMarker?: string; UploadIdMarker?: string } | undefined = {}; marker; ) {
    const page: Awaited<ReturnType<typeof listMultipartPage>> = await listMultipartPage(bucket, { ...all, ...marker });
    for (const { Key, UploadId, Initiated } of page.Uploads ?? [])
      yield { key: Key!.slice(bucket.prefix.length), uploadId: UploadId!, startedAtMs: Initiated?.getTime() ?? 0 };
    marker = page.IsTruncated
      ? { KeyMarker: page.NextKeyMarker!, UploadIdMarker: page.NextUploadIdMarker! }
      : undefined;
  }
}

function listMultipartPage(bucket: Bucket, page: { Bucket: string; Prefix: string }) {
  return bucket.client.send(new ListMultipartUploadsCommand(page));
}
