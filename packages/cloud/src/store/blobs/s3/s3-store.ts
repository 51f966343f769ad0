import { algorithmOf } from "@downlink/protocol";
import {
  type BucketStoreOptions,
  type DirectTargets,
  openBucketStore,
  type ReceivingStore,
} from "../buckets/bucket-store.ts";
import { type BucketOptions, connectBucket } from "./bucket.ts";
import { type DirectUploads, grantDirectPart } from "./direct-parts.ts";
import { grantDirectPiece, recordArrived } from "./direct-pieces.ts";
import { s3Client } from "./s3-client.ts";

export interface S3StoreOptions extends BucketOptions, BucketStoreOptions {
  /** Senders may send parts to the bucket itself, because they can reach its endpoint. */
  readonly isDirect?: boolean;
}

export type S3Store = ReceivingStore & Disposable;

/** Opens a store of objects in a bucket of any S3. */
export function openS3Store(options: S3StoreOptions): S3Store {
  const bucket = connectBucket(options);
  const close = { [Symbol.dispose]: () => bucket[Symbol.dispose]() };
  const client = s3Client(bucket);
  if (!options.isDirect) return { ...openBucketStore({ bucket: client }, options), ...close };
  const { records } = options;
  const direct = targetsOf({ bucket, records });
  const arrived = { bucket: client, records };
  const store = openBucketStore(
    { bucket: client, direct, recordArrived: (upload, number) => recordArrived(arrived, upload, number) },
    options,
  );
  return { ...store, directDigest: "md5", ...close };
}

function targetsOf(uploads: DirectUploads): DirectTargets {
  return {
    takes: ({ digest }) => algorithmOf(digest) === "md5",
    grantPart: (key, part) => grantDirectPart(uploads, key, part),
    grantPiece: (key, piece) => grantDirectPiece(uploads, key, piece),
  };
}
