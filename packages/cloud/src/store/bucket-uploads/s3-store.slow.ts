import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { openDatabase } from "../../db/client.ts";
import { createTestDatabase } from "../../testing/test-database.ts";
import { describeBlobStore } from "../blobs/blob-store.suite.ts";
import { openLocalRecords } from "./local-upload-records.ts";
import { serveS3Store } from "./testing/open-s3-store.ts";
import { runCeph, whyNoCeph } from "./testing/run-ceph.ts";

const skip = whyNoCeph();

if (skip === undefined) {
  const stack = new AsyncDisposableStack();
  after(() => stack.disposeAsync());
  const ceph = stack.use(await runCeph());
  const bucket = await ceph.makeBucket();
  const log = { warn: () => {} };
  const db = stack.use(openDatabase(await createTestDatabase({ after }), { maxConnections: 10, log }));
  describeBlobStore("S3 store", () => serveS3Store({ ceph, bucket, db }));
  describeBlobStore("S3 store with parts sent to the bucket", () =>
    serveS3Store({ ceph, bucket, db }, { isDirect: true }),
  );
  const folder = await mkdtemp(join(tmpdir(), "downlink-records-"));
  stack.defer(() => rm(folder, { recursive: true }));
  const records = stack.use(openLocalRecords(folder, log));
  describeBlobStore("S3 store of a self-hosted site", () => serveS3Store({ ceph, bucket, db }, { records }));
} else test("the S3 store keeps what every store promises", { skip }, () => {});
