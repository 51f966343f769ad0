import type { Database } from "../../db/client.ts";
import type { SiteBucketModel } from "../../db/generated/models.ts";
import { type AzureCredential, AzureCredentialError } from "../blobs/azure/credential.ts";
import { BlobNotFoundError } from "../blobs/blob-errors.ts";
import type { BlobReader, StoredObject } from "../blobs/blob-store.ts";
import type { BucketCall } from "../blobs/buckets/bucket-call.ts";
import { BucketUnavailableError } from "../blobs/buckets/bucket-unavailable.ts";
import type { BucketPlace, CustomerBucket, ObjectIdentity } from "../blobs/buckets/customer-bucket.ts";
import { etagOf } from "../blobs/object-key.ts";
import type { FindCredentials } from "./bucket-credentials.ts";

type NamedPlace = BucketPlace & Pick<SiteBucketModel, "credentials">;

/** Reads customers' buckets for this process. */
export interface CustomerBuckets {
  /** Opens the object of a `blobKey`. Throws {@link BlobNotFoundError} if no site has it any more. */
  open(key: string): Promise<BlobReader>;
  /** Says whether the bucket has exactly the object of a `blobKey` now. */
  stat(key: string): Promise<StoredObject | undefined>;
  /** The connection to a bucket, which stays open. */
  connect(place: NamedPlace): Promise<CustomerBucket>;
}

export interface BucketDeps {
  readonly db: Pick<Database, "prisma">;
  readonly findCredentials: FindCredentials;
  readonly onCall?: (call: BucketCall) => void;
}

const NS_PER_MS = 1_000_000n;

/** Connections are made when they are first used, one for each bucket and name of credentials. */
export function openCustomerBuckets(opened: AsyncDisposableStack, deps: BucketDeps): CustomerBuckets {
  const later = opened.use(new AsyncDisposableStack());
  const connections = new Map<string, Promise<CustomerBucket>>();
  const connect: CustomerBuckets["connect"] = (place) => {
    const { provider, azureStorageAccountName, bucket, prefix, endpoint, region, credentials } = place;
    const key = JSON.stringify([provider, azureStorageAccountName, bucket, prefix, endpoint, region, credentials]);
    const connection = connections.get(key) ?? connectTo(place, deps).then((made) => later.use(made));
    connections.set(key, connection);
    connection.catch(() => connections.delete(key));
    return connection;
  };
  return {
    connect,
    async open(key) {
      const { bucket, name, identity } = await locate(key, deps, connect);
      return bucket.open(key, name, identity);
    },
    async stat(key) {
      const located = await locate(key, deps, connect).catch(skipGone);
      const found = located && (await located.bucket.find(located.name));
      if (!found || !isSame(found, located.identity)) return undefined;
      return {
        sizeBytes: Number(found.sizeBytes),
        modifiedAtMs: Number(found.modifiedAtNs / NS_PER_MS),
        etag: etagOf(key),
      };
    },
  };
}

/** Only a process that reads such a bucket loads the client of S3 or of Azure. */
async function connectTo(place: NamedPlace, deps: BucketDeps): Promise<CustomerBucket> {
  const { findCredentials, onCall } = deps;
  if (place.provider === "azure") {
    const credential = requireCredential(place, deps);
    const { connectCustomerContainer } = await import("../blobs/azure/customer-container.ts");
    return connectCustomerContainer(place, { credential, ...(onCall && { onCall }) });
  }
  const { connectCustomerBucket } = await import("../blobs/s3/customer-bucket.ts");
  const found = place.credentials === null ? undefined : findCredentials.ofBucket(place.credentials);
  return connectCustomerBucket(place, { found, ...(onCall && { onCall }) });
}

/** Nothing is known of a container as long as this process has no credentials for it. */
function requireCredential({ credentials }: NamedPlace, { findCredentials }: BucketDeps): AzureCredential {
  if (credentials === null) throw new BucketUnavailableError("the container has no name of credentials", undefined);
  try {
    return findCredentials.ofContainer(credentials);
  } catch (error) {
    if (!(error instanceof AzureCredentialError)) throw error;
    throw new BucketUnavailableError(`the container cannot be reached: ${error.message}`, error);
  }
}

interface Located {
  readonly bucket: CustomerBucket;
  readonly name: string;
  readonly identity: ObjectIdentity;
}

async function locate(key: string, { db }: BucketDeps, connect: CustomerBuckets["connect"]): Promise<Located> {
  const [orgId, id] = key.split("/") as [string, string];
  const object = await db.prisma.bucketObject.findFirst({
    where: { id, orgId },
    include: { site: { select: { bucket: true } } },
  });
  const place = object?.site.bucket;
  if (!object || !place || object.etag === null || object.sizeBytes === null) throw new BlobNotFoundError(key);
  const { name, versionId, etag, sizeBytes } = object;
  return { bucket: await connect(place), name, identity: { versionId, etag, sizeBytes } };
}

function skipGone(error: unknown): undefined {
  if (error instanceof BlobNotFoundError) return undefined;
  throw error;
}

function isSame(one: ObjectIdentity, other: ObjectIdentity): boolean {
  return one.versionId === other.versionId && one.etag === other.etag && one.sizeBytes === other.sizeBytes;
}
