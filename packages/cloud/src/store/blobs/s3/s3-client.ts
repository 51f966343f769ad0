import { DeleteObjectCommand, GetObjectCommand, PutObjectCommand, paginateListObjectsV2 } from "@aws-sdk/client-s3";
import { BlobExistsError, UploadClosedError } from "../blob-errors.ts";
import type { ListedObject } from "../blob-store.ts";
import type { BucketClient, BucketObjects, BucketParts } from "../buckets/bucket-client.ts";
import { type Bucket, findObject, requireBucket } from "./bucket.ts";
import {
  abortMultipart,
  abortMultiparts,
  beginMultipart,
  hasStoredPart,
  joinParts,
  listMultiparts,
  listStoredParts,
  md5Of,
  sendPart,
} from "./multipart.ts";
import { openObject } from "./open-object.ts";
import { isGone, isS3Error } from "./s3-errors.ts";
import { putObject } from "./s3-put.ts";

/** Says how a store reads and writes in a bucket of S3. */
export function s3Client(bucket: Bucket): BucketClient {
  return {
    objects: objectsOf(bucket),
    parts: partsOf(bucket),
    putStream: (key, body, options) => putObject(bucket, { key, body, options }),
    open: (key, options) => openObject(bucket, key, options),
    require: () => requireBucket(bucket),
  };
}

function objectsOf(bucket: Bucket): BucketObjects {
  const { client } = bucket;
  const locateObject = (name: string) => ({ Bucket: bucket.name, Key: bucket.prefix + name });
  return {
    async find(name) {
      const found = await findObject(bucket, name);
      return found && { sizeBytes: found.ContentLength!, modifiedAtMs: found.LastModified!.getTime() };
    },
    async put(name, bytes, { isOnce = false, contentType } = {}) {
      const content = { Body: bytes, ContentMD5: md5Of(bytes), ...(contentType && { ContentType: contentType }) };
      try {
        await client.send(
          new PutObjectCommand({ ...locateObject(name), ...content, ...(isOnce && { IfNoneMatch: "*" }) }),
        );
      } catch (error) {
        throw isS3Error(error, "PreconditionFailed") ? new BlobExistsError(name) : error;
      }
    },
    async get(name) {
      try {
        const { Body } = await client.send(new GetObjectCommand(locateObject(name)));
        return Buffer.from(await Body!.transformToByteArray());
      } catch (error) {
        if (!isS3Error(error, "NoSuchKey", "NotFound")) throw error;
        await requireBucket(bucket);
        return undefined;
      }
    },
    async remove(name) {
      await client.send(new DeleteObjectCommand(locateObject(name)));
    },
    async *list(prefix) {
      const all = { Bucket: bucket.name, Prefix: bucket.prefix + prefix };
      for await (const { Contents = [] } of paginateListObjectsV2({ client }, all))
        for (const { Key, Size, LastModified } of Contents)
          yield { key: Key!.slice(bucket.prefix.length), sizeBytes: Size!, modifiedAtMs: LastModified!.getTime() };
    },
  };
}

function partsOf(bucket: Bucket): BucketParts {
  return {
    begin: (key) => beginMultipart(bucket, key),
    list: (upload) => listStoredParts(bucket, upload),
    has: (upload, number) => hasStoredPart(bucket, upload, number),
    async send(upload, part) {
      try {
        await sendPart(bucket, upload, part);
      } catch (error) {
        throw isGone(error) ? new UploadClosedError(upload.key) : error;
      }
    },
    async join(upload, parts) {
      const joined = parts.map(({ number, etag }) => ({ PartNumber: number, ETag: etag }));
      try {
        await joinParts(bucket, upload, joined);
      } catch (error) {
        if (isGone(error)) throw new UploadClosedError(upload.key);
        throw isS3Error(error, "PreconditionFailed") ? new BlobExistsError(upload.key) : error;
      }
    },
    isJoined: async (upload) => (await listStoredParts(bucket, upload)) === undefined,
    abort: (upload) => abortMultipart(bucket, upload),
    abortAll: (key) => abortMultiparts(bucket, key),
    listUnfinished: (prefix) => listUploads(bucket, prefix),
  };
}

async function* listUploads(bucket: Bucket, prefix: string): AsyncGenerator<ListedObject, void> {
  for await (const upload of listMultiparts(bucket, prefix)) {
    const parts = (await listStoredParts(bucket, upload)) ?? [];
    const sizeBytes = parts.reduce((sum, part) => sum + part.sizeBytes, 0);
    const modifiedAtMs = parts.reduce((latest, part) => Math.max(latest, part.storedAtMs), upload.startedAtMs);
    yield { key: upload.key, isWhole: false, sizeBytes, modifiedAtMs };
  }
}
