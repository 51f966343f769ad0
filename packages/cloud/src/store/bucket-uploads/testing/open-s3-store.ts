import { randomBytes } from "node:crypto";
import type { Database } from "../../../db/client.ts";
import { openS3Store, type S3Store, type S3StoreOptions } from "../../blobs/s3/s3-store.ts";
import { testClock, testSigner } from "../../blobs/testing/open-file-store.ts";
import { serveParts } from "../../blobs/testing/serve-parts.ts";
import type { StoreUnderTest } from "../../blobs/testing/store-under-test.ts";
import { keepUploadRecords } from "../upload-records.ts";
import type { Ceph } from "./run-ceph.ts";

/** Ceph is configured to accept parts as small as this; Amazon accepts none below 5 MiB, except for the last one. */
const PART_BYTES = 64 * 1024;

export interface ServedS3Store extends StoreUnderTest {
  readonly store: S3Store;
}

interface Place {
  readonly ceph: Ceph;
  readonly bucket: string;
  readonly db: Database;
}

/** Serves a store in a new bucket prefix, with its part routes on a free port. */
export async function serveS3Store(
  { ceph, bucket, db }: Place,
  options: Partial<S3StoreOptions> = {},
): Promise<ServedS3Store> {
  await using stack = new AsyncDisposableStack();
  let url = "";
  const base = { signer: testSigner, clock: testClock, publicUrl: () => url };
  const store = stack.use(
    openS3Store({
      ...base,
      ...{ endpoint: ceph.endpoint, region: "us-east-1", forcePathStyle: true, credentials: ceph.owner },
      ...{ bucket, prefix: `${randomBytes(6).toString("hex")}/`, records: keepUploadRecords(db, "a bucket") },
      ...options,
    }),
  );
  const served = stack.use(await serveParts({ ...base, blobs: store }));
  url = served.url;
  const opened = stack.move();
  return { store, partSizeBytes: PART_BYTES, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}
