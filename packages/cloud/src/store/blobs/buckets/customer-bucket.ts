// A customer's bucket as this server sees it. It has only reads: there is no method that could write or delete.

import type { BlobReader } from "../blob-store.ts";

/** Which bytes a name stands for: the bucket's own version, or else their tag and size. */
export interface ObjectIdentity {
  readonly versionId: string | null;
  readonly etag: string;
  readonly sizeBytes: bigint;
}

export interface FoundObject extends ObjectIdentity {
  readonly modifiedAtNs: bigint;
  /** The metadata that the writer gave the object; its names are in lower case. */
  readonly metadata: Readonly<Record<string, string>>;
}

/** An object as a listing shows it, without its version. */
export interface ListedName {
  readonly name: string;
  readonly etag: string;
  readonly sizeBytes: bigint;
  readonly modifiedAtNs: bigint;
}

/** Selects the names of a bucket that are listed: those of the site that come after one of them. */
export interface Listing {
  readonly prefix: string;
  readonly after: string;
}

/** One object, and the key under which the recording knows it. */
export interface OneObject extends ObjectIdentity {
  readonly key: string;
  readonly name: string;
}

/** The version of an object that is older than the versions of its bucket. Later ones do not replace it. */
export const UNNAMED_VERSION = "null";

const NS_PER_MS = 1_000_000n;

export function toNs(date: Date | undefined): bigint {
  return BigInt(date?.getTime() ?? 0) * NS_PER_MS;
}

/** Returns what the writer said, as {@link FoundObject} has it. */
export function toMetadata(given: Readonly<Record<string, string>> | undefined): FoundObject["metadata"] {
  return Object.fromEntries(Object.entries(given ?? {}).map(([key, value]) => [key.toLowerCase(), value]));
}

export interface CustomerBucket extends Disposable {
  /**
   * Says what the bucket has under a name now. Undefined only if the bucket is there and says that it has nothing; if it refuses or does not
   * answer, this throws a {@link BucketUnavailableError}, and nothing is known.
   */
  find(name: string): Promise<FoundObject | undefined>;
  /**
   * Lists the names of the site behind one of them, page by page, in the order of their bytes. Where the bucket cannot do that, it lists all of
   * them, and some may come late.
   */
  list(after: string): AsyncIterable<readonly ListedName[]>;
  /** Opens exactly these bytes. Each request says so: what was replaced meanwhile is never mixed in. */
  open(key: string, name: string, identity: ObjectIdentity): BlobReader;
  /** Throws if the bucket is not there, or cannot be listed. */
  check(): Promise<void>;
}

/** Where a customer's bucket is. */
export interface BucketPlace {
  readonly provider: "google_cloud" | "aws" | "azure" | "s3_compatible";
  readonly bucket: string;
  /** The storage account of a container of Azure, which is the bucket then; null for all other providers. */
  readonly azureStorageAccountName: string | null;
  /** The beginning of the names that count. */
  readonly prefix: string;
  readonly endpoint: string | null;
  readonly region: string | null;
}
