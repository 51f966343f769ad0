import { BlobDamagedError, BlobNotFoundError } from "../blob-errors.ts";
import type { BlobReader } from "../blob-store.ts";
import type { BucketClient } from "../buckets/bucket-client.ts";
import { type BucketStoreOptions, openBucketStore, type ReceivingStore } from "../buckets/bucket-store.ts";
import { readerOf, type Stretch } from "../buckets/object-reader.ts";
import { isAzureError } from "./azure-errors.ts";
import { azureObjects, findBlob, isMissing, listBlobs } from "./azure-objects.ts";
import { azureParts } from "./azure-parts.ts";
import { putBlob } from "./azure-put.ts";
import { type Container, type ContainerOptions, connectContainer } from "./container.ts";

export interface AzureStoreOptions extends ContainerOptions, BucketStoreOptions {}

export type AzureStore = ReceivingStore & Disposable;

/**
 * Opens a store of objects as block blobs of a container of Azure. All parts come through this process: a link of Azure binds neither the
 * length nor the digest of what is sent to it.
 */
export function openAzureStore(options: AzureStoreOptions): AzureStore {
  const container = connectContainer(options);
  const store = openBucketStore({ bucket: azureClient(container) }, options);
  return { ...store, [Symbol.dispose]: () => container[Symbol.dispose]() };
}

/** Says how a store reads and writes in a container. */
export function azureClient(container: Container): BucketClient {
  return {
    objects: azureObjects(container),
    parts: azureParts(container),
    putStream: (key, body, options) => putBlob(container, { key, body, options }),
    open: (key) => openBlob(container, key),
    require: () => requireContainer(container),
  };
}

/** Rejects if the container is not there. A list is what every credential allows that this store can work with. */
async function requireContainer(container: Container): Promise<void> {
  await listBlobs(container, "_downlink/").next();
}

async function openBlob(container: Container, key: string): Promise<BlobReader> {
  const found = await findBlob(container, key);
  if (!found) throw new BlobNotFoundError(key);
  const ifMatch = found.etag!;
  const request = (stretch: Stretch) => requestStretch(container, { key, ifMatch }, stretch);
  return readerOf({ key, sizeBytes: found.contentLength!, request });
}

async function requestStretch(
  container: Container,
  { key, ifMatch }: { readonly key: string; readonly ifMatch: string },
  { start, end, signal }: Stretch,
): Promise<AsyncIterable<Uint8Array>> {
  const options = { conditions: { ifMatch }, maxRetryRequests: 0, ...(signal && { abortSignal: signal }) };
  try {
    const answer = await container.call("GetBlob", () => container.blob(key).download(start, end - start, options));
    return answer.readableStreamBody as AsyncIterable<Uint8Array>;
  } catch (error) {
    signal?.throwIfAborted();
    // Azurite answers for a blob that is gone that it is another one.
    const isOther = isAzureError(error, "ConditionNotMet", "InvalidRange");
    if (isMissing(error) || (isOther && !(await findBlob(container, key)))) throw new BlobNotFoundError(key);
    throw isOther ? new BlobDamagedError(key) : error;
  }
}
