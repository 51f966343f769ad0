import { join } from "node:path";
import type { BlobStore } from "../blobs/blob-store.ts";
import { type FileStoreOptions, openFileStore } from "../blobs/file-store.ts";
import type { BucketOptions } from "../blobs/s3/bucket.ts";
import { ConfigError } from "../core/config-error.ts";
import type { Database } from "../db/client.ts";
import { keepUploadRecords } from "./upload-records.ts";

/** Where the operator keeps the objects. Undefined: as files. */
export type BucketSettings = Pick<BucketOptions, "bucket" | "endpoint" | "region" | "prefix" | "forcePathStyle"> & {
  /** Agents send their parts to the bucket itself. */
  readonly isDirect: boolean;
};

interface Opening extends Pick<FileStoreOptions, "signer" | "publicUrl" | "clock"> {
  readonly dataDir: string;
  readonly bucket: BucketSettings | undefined;
  readonly db: Pick<Database, "prisma">;
}

/** Only who keeps objects in a bucket loads what speaks with one. */
export async function openStore(
  opened: AsyncDisposableStack,
  { dataDir, bucket, db, ...common }: Opening,
): Promise<BlobStore> {
  if (!bucket) return await openFileStore({ ...common, directory: join(dataDir, "objects") });
  const { openS3Store } = await import("../blobs/s3/s3-store.ts");
  return opened.use(openS3Store({ ...common, ...bucket, records: keepUploadRecords(db) }));
}

/** Throws a {@link ConfigError} that says what the bucket does not do, or does not allow. */
export async function requireUsable(bucket: BucketSettings | undefined): Promise<void> {
  if (!bucket) return;
  const { probeBucket } = await import("../blobs/s3/probe-bucket.ts");
  const faults = await probeBucket(bucket);
  if (faults.length > 0) throw new ConfigError(faults.map((fault) => `DOWNLINK_S3_BUCKET: ${bucket.bucket}: ${fault}`));
}
