// The part of a bucket into which others put files. It keeps versions: one of them is copied and removed exactly, whatever comes under its name
// meanwhile.

import {
  AbortMultipartUploadCommand,
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  UploadPartCopyCommand,
} from "@aws-sdk/client-s3";
import { type FoundObject, type ListedName, UNNAMED_VERSION } from "../buckets/customer-bucket.ts";
import { type Bucket, type BucketOptions, connectBucket, requireBucket } from "./bucket.ts";
import { connectCustomerBucket } from "./customer-bucket.ts";
import { isS3Error } from "./s3-errors.ts";

/** One version of an object. */
export interface ObjectVersion {
  /** The name behind the prefix. */
  readonly name: string;
  readonly versionId: string;
  readonly etag: string;
  readonly sizeBytes: number;
}

export interface InboxBucket extends Disposable {
  list(): AsyncIterable<readonly ListedName[]>;
  find(name: string): Promise<FoundObject | undefined>;
  hasVersion(version: ObjectVersion): Promise<boolean>;
  /** Yields the bytes of exactly this version. */
  read(version: ObjectVersion): AsyncIterable<Uint8Array>;
  /** Does nothing if the version is gone. */
  remove(version: ObjectVersion): Promise<void>;
  copy(version: ObjectVersion, to: string): Promise<void>;
  putText(name: string, text: string): Promise<void>;
  /** Says in a sentence what the bucket does not do or allow; undefined: it can be used. */
  probe(): Promise<string | undefined>;
}

const GONE = ["NoSuchKey", "NoSuchVersion", "NotFound"];
/** S3 copies no more by one request. */
const MOST_COPIED_BYTES = 5 * 1024 ** 3;
const COPY_PART_BYTES = 1024 ** 3;

interface InboxBucketOptions extends BucketOptions {
  /** Larger objects are copied in parts of this size. */
  readonly copyPartBytes?: number;
}

export function connectInboxBucket({ copyPartBytes, ...options }: InboxBucketOptions): InboxBucket {
  const bucket = connectBucket(options);
  const { name: bucketName, prefix } = bucket;
  const { credentials, profile, onCall } = options;
  const inFiles = profile === undefined ? undefined : { profile };
  const reads = connectCustomerBucket(
    {
      ...{ provider: options.forcePathStyle ? "s3_compatible" : "aws", bucket: bucketName, prefix },
      ...{ endpoint: options.endpoint ?? null, region: options.region, azureStorageAccountName: null },
    },
    { found: credentials ? { credentials } : inFiles, ...(onCall && { onCall }) },
  );
  const copying = { most: copyPartBytes ?? MOST_COPIED_BYTES, partBytes: copyPartBytes ?? COPY_PART_BYTES };
  return {
    async *list() {
      for await (const page of reads.list(""))
        yield page.map((listed) => ({ ...listed, name: listed.name.slice(prefix.length) }));
    },
    find: (name) => reads.find(prefix + name),
    hasVersion: (version) => hasVersion(bucket, version),
    read: ({ name, sizeBytes, ...which }) =>
      reads.open(name, prefix + name, { ...which, sizeBytes: BigInt(sizeBytes) }).stream(),
    remove: (version) => removeVersion(bucket, version),
    async copy(version, to) {
      if (version.sizeBytes <= copying.most) await copyWhole(bucket, version, to);
      else await copyInParts(bucket, version, { to, partBytes: copying.partBytes });
    },
    putText: async (name, text) => void (await putText(bucket, name, text)),
    probe: () => probe(bucket),
    [Symbol.dispose]() {
      reads[Symbol.dispose]();
      bucket[Symbol.dispose]();
    },
  };
}

function placeIn({ name: Bucket, prefix }: Bucket, name: string) {
  return { Bucket, Key: prefix + name };
}

async function hasVersion(bucket: Bucket, { name, versionId }: ObjectVersion): Promise<boolean> {
  try {
    await bucket.client.send(new HeadObjectCommand({ ...placeIn(bucket, name), VersionId: versionId }));
    return true;
  } catch (error) {
    if (!isS3Error(error, ...GONE)) throw error;
    await requireBucket(bucket);
    return false;
  }
}

async function removeVersion(
  bucket: Bucket,
  { name, versionId }: Pick<ObjectVersion, "name" | "versionId">,
): Promise<void> {
  try {
    await bucket.client.send(new DeleteObjectCommand({ ...placeIn(bucket, name), VersionId: versionId }));
  } catch (error) {
    if (!isS3Error(error, ...GONE)) throw error;
  }
}

/** Names the version in the header of a copy. */
function sourceOf(bucket: Bucket, { name, versionId, etag }: ObjectVersion) {
  const path = [bucket.name, ...(bucket.prefix + name).split("/")].map(encodeURIComponent).join("/");
  return { CopySource: `${path}?versionId=${encodeURIComponent(versionId)}`, CopySourceIfMatch: etag };
}

/** Returns the version that was made. */
async function copyWhole(bucket: Bucket, version: ObjectVersion, to: string): Promise<string | undefined> {
  const copy = new CopyObjectCommand({ ...placeIn(bucket, to), ...sourceOf(bucket, version) });
  return (await bucket.client.send(copy)).VersionId;
}

async function copyInParts(
  bucket: Bucket,
  version: ObjectVersion,
  { to, partBytes }: { readonly to: string; readonly partBytes: number },
): Promise<void> {
  const place = placeIn(bucket, to);
  const { UploadId } = await bucket.client.send(new CreateMultipartUploadCommand(place));
  const upload = { ...place, UploadId };
  try {
    const Parts = await copyParts(bucket, version, { upload, partBytes });
    await bucket.client.send(new CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } }));
  } catch (error) {
    await bucket.client.send(new AbortMultipartUploadCommand(upload)).catch(() => {}); // a rule of the bucket aborts it later
    throw error;
  }
}

interface PartCopies {
  readonly upload: { readonly Bucket: string; readonly Key: string; readonly UploadId: string | undefined };
  readonly partBytes: number;
}

async function copyParts(
  bucket: Bucket,
  version: ObjectVersion,
  { upload, partBytes }: PartCopies,
): Promise<CompletedPart[]> {
  const parts: CompletedPart[] = [];
  for (let start = 0; start < version.sizeBytes; start += partBytes) {
    const end = Math.min(start + partBytes, version.sizeBytes);
    const PartNumber = parts.length + 1;
    const range = { PartNumber, CopySourceRange: `bytes=${start}-${end - 1}` };
    const copied = await bucket.client.send(
      new UploadPartCopyCommand({ ...upload, ...range, ...sourceOf(bucket, version) }),
    );
    parts.push({ PartNumber, ETag: copied.CopyPartResult?.ETag });
  }
  return parts;
}

async function putText(bucket: Bucket, name: string, text: string): Promise<string | undefined> {
  const content = { Body: Buffer.from(text), ContentType: "text/plain; charset=utf-8" };
  const { VersionId } = await bucket.client.send(new PutObjectCommand({ ...placeIn(bucket, name), ...content }));
  return VersionId;
}

/** Writes, copies and removes an object of its own, which is no file of the inbox. */
async function probe(bucket: Bucket): Promise<string | undefined> {
  const name = "_downlink/probe";
  try {
    const versionId = await putText(bucket, name, "Downlink looks whether it may use this inbox.");
    if (versionId === undefined || versionId === UNNAMED_VERSION) {
      await bucket.client.send(new DeleteObjectCommand(placeIn(bucket, name)));
      return "it keeps no versions, so what comes under the name of an imported file could be removed with that";
    }
    const { ETag, ContentLength } = await bucket.client.send(new HeadObjectCommand(placeIn(bucket, name)));
    const version = { name, versionId, etag: ETag!, sizeBytes: ContentLength! };
    await removeVersion(bucket, { name, versionId: (await copyWhole(bucket, version, name))! });
    await removeVersion(bucket, version);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
