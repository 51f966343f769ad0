import { createHash } from "node:crypto";
import { buffer } from "node:stream/consumers";
import type { BlobGetPropertiesResponse, BlobItem } from "@azure/storage-blob";
import { BlobExistsError } from "../blob-errors.ts";
import type { BucketObjects } from "../buckets/bucket-client.ts";
import { isAzureError } from "./azure-errors.ts";
import type { Container } from "./container.ts";

/** If a call's answer was lost, the metadata of the blob under the key shows whether that call wrote it. */
export const TOKEN = "downlinkwrite";
const PAGE = 5000;

/** How objects are read and written whole, as block blobs of a container. */
export function azureObjects(container: Container): BucketObjects {
  return {
    async find(name) {
      const found = await findBlob(container, name);
      return found && { sizeBytes: found.contentLength!, modifiedAtMs: found.lastModified!.getTime() };
    },
    async put(name, bytes, { isOnce = false, contentType } = {}) {
      try {
        await sendBlob(container, { name, bytes, isOnce, contentType });
      } catch (error) {
        throw isTaken(error) ? new BlobExistsError(name) : error;
      }
    },
    get: (name) => getBlob(container, name),
    remove: (name) => removeBlob(container, name),
    async *list(prefix) {
      for await (const { name, properties } of listBlobs(container, prefix))
        yield { key: name, sizeBytes: properties.contentLength!, modifiedAtMs: properties.lastModified.getTime() };
    },
  };
}

export interface SentBlob {
  readonly name: string;
  readonly bytes: Uint8Array;
  /** Nothing is replaced. */
  readonly isOnce?: boolean;
  readonly contentType?: string | undefined;
  readonly metadata?: Record<string, string>;
  /** The base 64 of the bytes' MD5, if it is known. */
  readonly md5?: string | undefined;
}

/** Writes a blob by one request. */
export async function sendBlob(container: Container, sent: SentBlob): Promise<void> {
  const { name, bytes, isOnce = false, contentType, metadata, md5 } = sent;
  const content = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const digest = md5 === undefined ? createHash("md5").update(bytes).digest() : Buffer.from(md5, "base64");
  await container.call("PutBlob", () =>
    container.blob(name).upload(content, content.byteLength, {
      blobHTTPHeaders: { blobContentMD5: digest, ...(contentType !== undefined && { blobContentType: contentType }) },
      ...(isOnce && { conditions: { ifNoneMatch: "*" } }),
      ...(metadata && { metadata }),
    }),
  );
}

/** Says whether the container refused to replace a blob. */
export function isTaken(error: unknown): boolean {
  return isAzureError(error, "BlobAlreadyExists", "ConditionNotMet");
}

export function isMissing(error: unknown): boolean {
  return isAzureError(error, "BlobNotFound");
}

/** Returns undefined if the container answers that there is no such blob. */
export async function findBlob(container: Container, name: string): Promise<BlobGetPropertiesResponse | undefined> {
  try {
    return await container.call("GetBlobProperties", () => container.blob(name).getProperties());
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

async function getBlob(container: Container, name: string): Promise<Buffer | undefined> {
  try {
    return await container.call("GetBlob", async () => {
      const { readableStreamBody } = await container.blob(name).download(0, undefined, { maxRetryRequests: 5 });
      return await buffer(readableStreamBody!);
    });
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

export async function removeBlob(container: Container, name: string): Promise<void> {
  try {
    await container.call("DeleteBlob", () => container.blob(name).delete({ deleteSnapshots: "include" }));
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}

/** Lists the blobs whose names begin so, in the order of their names, which come without the prefix of the store. */
export async function* listBlobs(container: Container, prefix: string): AsyncGenerator<BlobItem, void> {
  const pages = container.client.listBlobsFlat({ prefix: container.prefix + prefix }).byPage({ maxPageSize: PAGE });
  for (;;) {
    const { value, done } = await container.call("ListBlobs", () => pages.next());
    if (done) return;
    for (const item of value.segment.blobItems as BlobItem[])
      yield { ...item, name: item.name.slice(container.prefix.length) };
  }
}
