// A customer's bucket that speaks S3. The client refuses to send any command but reads, so that no mistake elsewhere can change what is not
// ours.

import {
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  type ListObjectsV2CommandOutput,
} from "@aws-sdk/client-s3";
import { BlobNotFoundError, BlobReplacedError } from "../blob-errors.ts";
import type { BucketCall } from "../buckets/bucket-call.ts";
import {
  type BucketPlace,
  type CustomerBucket,
  type FoundObject,
  type ListedName,
  type Listing,
  type OneObject,
  toMetadata,
  toNs,
} from "../buckets/customer-bucket.ts";
import { readerOf, type Stretch } from "../buckets/object-reader.ts";
import { type Bucket, type BucketOptions, connectBucket, requireBucket } from "./bucket.ts";
import { isS3Error } from "./s3-errors.ts";

const READS = ["HeadBucketCommand", "HeadObjectCommand", "GetObjectCommand", "ListObjectsV2Command"];
const GOOGLE = "https://storage.googleapis.com";

interface Access {
  readonly found: BucketCredentials | undefined;
  readonly onCall?: (call: BucketCall) => void;
}

/** The credentials that a name stands for: a key, or a profile of the SDK's own files. */
export type BucketCredentials = Required<Pick<BucketOptions, "credentials">> | Required<Pick<BucketOptions, "profile">>;

export function connectCustomerBucket(place: BucketPlace, { found, onCall }: Access): CustomerBucket {
  const { provider, bucket: name, prefix } = place;
  const endpoint = place.endpoint ?? (provider === "google_cloud" ? GOOGLE : undefined);
  const bucket = connectBucket({
    ...{ bucket: name, prefix: "", endpoint, region: place.region ?? "us-east-1", commands: READS },
    forcePathStyle: provider !== "aws",
    ...found,
    ...(onCall && { onCall }),
  });
  return {
    find: (object) => find(bucket, object),
    list: (after) => list(bucket, { prefix, after }),
    open: (key, object, identity) =>
      readerOf({
        key,
        sizeBytes: Number(identity.sizeBytes),
        request: (stretch) => requestStretch(bucket, { key, name: object, ...identity }, stretch),
      }),
    async check() {
      await requireBucket(bucket);
      await bucket.client.send(new ListObjectsV2Command({ Bucket: name, Prefix: prefix, MaxKeys: 1 }));
    },
    [Symbol.dispose]: () => bucket[Symbol.dispose](),
  };
}

async function find(bucket: Bucket, name: string): Promise<FoundObject | undefined> {
  try {
    const found = await bucket.client.send(new HeadObjectCommand({ Bucket: bucket.name, Key: name }));
    return {
      versionId: versionOf(found.VersionId),
      etag: found.ETag!,
      sizeBytes: BigInt(found.ContentLength!),
      modifiedAtNs: toNs(found.LastModified),
      metadata: toMetadata(found.Metadata),
    };
  } catch (error) {
    if (!isS3Error(error, "NotFound", "NoSuchKey")) throw error;
    await requireBucket(bucket); // a missing bucket answers the same, and says nothing of its objects
    return undefined;
  }
}

/** A bucket that keeps no versions names none, or calls all of them so. */
function versionOf(versionId: string | undefined): string | null {
  return versionId === undefined || versionId === "null" || versionId === "" ? null : versionId;
}

async function requestStretch(
  bucket: Bucket,
  { key, name, versionId, etag }: OneObject,
  { start, end, signal }: Stretch,
): Promise<AsyncIterable<Uint8Array>> {
  const which = { IfMatch: etag, ...(versionId !== null && { VersionId: versionId }) };
  const wanted = { Bucket: bucket.name, Key: name, Range: `bytes=${start}-${end - 1}`, ...which };
  try {
    const { Body } = await bucket.client.send(new GetObjectCommand(wanted), signal ? { abortSignal: signal } : {});
    return Body as AsyncIterable<Uint8Array>;
  } catch (error) {
    signal?.throwIfAborted();
    if (isS3Error(error, "NoSuchKey", "NotFound", "NoSuchVersion")) throw new BlobNotFoundError(key);
    if (isS3Error(error, "PreconditionFailed", "InvalidRange")) throw new BlobReplacedError(key);
    throw error;
  }
}

async function* list(bucket: Bucket, { prefix, after }: Listing): AsyncGenerator<readonly ListedName[], void> {
  let token: string | undefined;
  do {
    const page: ListObjectsV2CommandOutput = await bucket.client.send(
      new ListObjectsV2Command({
        ...{ Bucket: bucket.name, Prefix: prefix, EncodingType: "url" }, // XML cannot have every character of a name
        ...(token === undefined ? after !== "" && { StartAfter: after } : { ContinuationToken: token }),
      }),
    );
    yield (page.Contents ?? []).map(({ Key, ETag, Size, LastModified }) => ({
      name: decodeName(Key!, page.EncodingType === "url"),
      etag: ETag!,
      sizeBytes: BigInt(Size!),
      modifiedAtNs: toNs(LastModified),
    }));
    token = page.IsTruncated ? page.NextContinuationToken : undefined;
  } while (token !== undefined);
}

function decodeName(listed: string, isEncoded: boolean): string {
  return isEncoded ? decodeURIComponent(listed.replace(/\+/g, "%20")) : listed;
}
