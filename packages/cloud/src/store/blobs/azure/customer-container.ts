// A customer's container of Azure. The client refuses to send anything but GET and HEAD, so that no mistake elsewhere can change what is not
// ours.

import type { BlobItem } from "@azure/storage-blob";
import { BlobNotFoundError, BlobReplacedError } from "../blob-errors.ts";
import type { BucketCall } from "../buckets/bucket-call.ts";
import {
  type BucketPlace,
  type CustomerBucket,
  type FoundObject,
  type ListedName,
  type OneObject,
  toMetadata,
  toNs,
} from "../buckets/customer-bucket.ts";
import { readerOf, type Stretch } from "../buckets/object-reader.ts";
import { isAzureError, toUnavailable } from "./azure-errors.ts";
import { findBlob, isMissing } from "./azure-objects.ts";
import { type Container, connectContainer } from "./container.ts";
import type { AzureCredential } from "./credential.ts";

interface Access {
  readonly credential: AzureCredential;
  readonly onCall?: (call: BucketCall) => void;
}

type ContainerPlace = Pick<BucketPlace, "azureStorageAccountName" | "bucket" | "prefix" | "endpoint">;

const PAGE = 5000;
/** So many names may come in another order than that of their bytes. */
const MOST_HELD = 5000;

export function connectCustomerContainer(place: ContainerPlace, access: Access): CustomerBucket {
  const { azureStorageAccountName, bucket, prefix, endpoint } = place;
  const account = azureStorageAccountName ?? "";
  const options = { account, container: bucket, prefix: "", endpoint: endpoint ?? undefined, isReadOnly: true };
  const container = connectContainer({ ...options, ...access });
  return {
    find: (name) => find(container, name),
    list: () => list(container, prefix),
    open: (key, name, identity) =>
      readerOf({
        key,
        sizeBytes: Number(identity.sizeBytes),
        request: (stretch) => requestStretch(container, { key, name, ...identity }, stretch),
      }),
    check: async () => void (await listPages(container, { prefix, pageSize: 1 }).next()),
    [Symbol.dispose]: () => container[Symbol.dispose](),
  };
}

async function find(container: Container, name: string): Promise<FoundObject | undefined> {
  if (!isBlobName(name)) return undefined;
  const found = await findBlob(container, name).catch((error) =>
    Promise.reject(toUnavailable(error, "GetBlobProperties")),
  );
  if (!found) return undefined;
  const { versionId, etag, contentLength, lastModified, metadata } = found;
  return {
    versionId: versionId || null,
    etag: etag!,
    sizeBytes: BigInt(contentLength!),
    modifiedAtNs: toNs(lastModified),
    metadata: toMetadata(metadata),
  };
}

/** A URL with such a folder leads elsewhere, even to another container of the account; so no blob has it in its name. */
function isBlobName(name: string): boolean {
  return !name.split("/").some((part) => part === "." || part === "..");
}

async function requestStretch(
  container: Container,
  { key, name, versionId, etag }: OneObject,
  { start, end, signal }: Stretch,
): Promise<AsyncIterable<Uint8Array>> {
  if (!isBlobName(name)) throw new BlobNotFoundError(key);
  const blob = versionId === null ? container.blob(name) : container.blob(name).withVersion(versionId);
  const which = versionId === null ? { conditions: { ifMatch: etag } } : {};
  const options = { ...which, maxRetryRequests: 0, ...(signal && { abortSignal: signal }) };
  try {
    const answer = await container.call("GetBlob", () => blob.download(start, end - start, options));
    return answer.readableStreamBody as AsyncIterable<Uint8Array>;
  } catch (error) {
    signal?.throwIfAborted();
    // Azurite answers for a blob that is gone that it is another one.
    const isOther = isAzureError(error, "ConditionNotMet", "InvalidRange");
    if (isMissing(error) || (isOther && !(await find(container, name)))) throw new BlobNotFoundError(key);
    throw isOther ? new BlobReplacedError(key) : toUnavailable(error, "GetBlob");
  }
}

/**
 * Azure lists names by their UTF-16 units, and an account with folders of its own lists what is in a folder before its other neighbours. So
 * some names are held and sorted, which is enough for most accounts. For the same reason no listing can begin behind a name: it starts over,
 * because what it had not listed yet may stand before that name.
 */
async function* list(container: Container, prefix: string): AsyncGenerator<readonly ListedName[], void> {
  const held: Listed[] = [];
  for await (const page of listPages(container, { prefix, pageSize: PAGE })) {
    held.push(...page.map(toListed));
    held.sort((one, other) => Buffer.compare(one.bytes, other.bytes));
    yield held.splice(0, Math.max(0, held.length - MOST_HELD)).map(({ listed }) => listed);
  }
  yield held.map(({ listed }) => listed);
}

interface Listed {
  readonly bytes: Buffer;
  readonly listed: ListedName;
}

function toListed({ name, properties }: BlobItem): Listed {
  const { etag, contentLength, lastModified } = properties;
  const listed = { name, etag: quoteEtag(etag), sizeBytes: BigInt(contentLength!), modifiedAtNs: toNs(lastModified) };
  return { bytes: Buffer.from(name), listed };
}

/** Azure's listings leave out the quotes that the tag has everywhere else. */
function quoteEtag(etag: string): string {
  return etag.startsWith('"') ? etag : `"${etag}"`;
}

interface Paging {
  readonly prefix: string;
  readonly pageSize: number;
}

async function* listPages(container: Container, { prefix, pageSize }: Paging): AsyncGenerator<BlobItem[], void> {
  const pages = container.client.listBlobsFlat({ prefix }).byPage({ maxPageSize: pageSize });
  for (;;) {
    const { value, done } = await container
      .call("ListBlobs", () => pages.next())
      .catch((error) => Promise.reject(toUnavailable(error, "ListBlobs")));
    if (done) return;
    yield value.segment.blobItems as BlobItem[];
  }
}
