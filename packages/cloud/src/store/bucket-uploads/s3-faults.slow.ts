import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, test } from "node:test";
import { AbortMultipartUploadCommand, ListMultipartUploadsCommand, S3Client } from "@aws-sdk/client-s3";
import { openDatabase } from "../../db/client.ts";
import { createTestDatabase } from "../../testing/test-database.ts";
import { BlobExistsError, PartConflictError, UploadClosedError } from "../blobs/blob-errors.ts";
import type { BlobStore } from "../blobs/blob-store.ts";
import { BucketUnavailableError } from "../blobs/buckets/bucket-unavailable.ts";
import { probeBucket } from "../blobs/s3/probe-bucket.ts";
import { cutParts, inPieces, newKey, readBlob } from "../blobs/testing/pieces.ts";
import { allowReader, permissions } from "./testing/bucket-policy.ts";
import { serveS3Store } from "./testing/open-s3-store.ts";
import { runCeph, whyNoCeph } from "./testing/run-ceph.ts";
import { faultFor, proxyS3 } from "./testing/s3-proxy.ts";
import { keepUploadRecords } from "./upload-records.ts";

const MiB = 1024 * 1024;
const PART_BYTES = 64 * 1024;

const skip = whyNoCeph();
const stack = new AsyncDisposableStack();
after(() => stack.disposeAsync());
const opened = skip === undefined ? await openAll() : undefined;
// Without a real S3 every test is skipped, and none of these is used.
const { ceph, proxy, db, bucket, place, access, client } = opened ?? ({} as Awaited<ReturnType<typeof openAll>>);

const behindProxy = () =>
  serveS3Store(place, { endpoint: proxy.endpoint, silenceMs: 2000, attempts: 4, blockBytes: MiB });

const calls = {
  "of an object that is written at once": /^PUT [^?]*\?x-id=PutObject/,
  "of the beginning of parts": /^POST .*[?&]uploads/,
  "of a part": /^PUT .*partNumber=2/,
  "of the completion": /^POST .*uploadId=/,
  "of a look at it": /^HEAD /,
};
for (const [what, call] of Object.entries(calls))
  for (const fault of ["lose the answer", "slow down"] as const)
    test(`${fault} ${what}, once: the object is stored exactly, and nothing is left beside it`, { skip }, async () => {
      await using tested = await behindProxy();
      for (const bytes of [randomBytes(1000), randomBytes(3 * MiB)]) {
        proxy.setFaults(faultFor(call, fault, 1));
        const key = newKey();
        await tested.store.put(key, inPieces(bytes, 100_000));
        await uploadInParts(tested.store, newKey());
        proxy.setFaults(() => "forward");
        assert(bytes.equals(await readBlob(await tested.store.open(key))));
      }
      const listed = await Array.fromAsync(tested.store.list(""));
      assert.equal(listed.length, 4);
      for (const { key, isWhole } of listed) assert(isWhole, key);
      assert.equal(await countUnfinished(), 0);
    });

test("a part to which no answer comes is sent again", { skip }, async () => {
  await using tested = await behindProxy();
  proxy.setFaults(faultFor(calls["of a part"], "never answer", 1));
  await uploadInParts(tested.store, newKey());
  proxy.setFaults(() => "forward");
});

test("a completion to which no answer ever comes is found by its object", { skip }, async () => {
  await using tested = await behindProxy();
  proxy.setFaults(faultFor(calls["of the completion"], "lose the answer"));
  await uploadInParts(tested.store, newKey());
  await tested.store.put(newKey(), inPieces(randomBytes(3 * MiB), 100_000));
  proxy.setFaults(() => "forward");
  assert.deepEqual(
    (await Array.fromAsync(tested.store.list(""))).map(({ isWhole }) => isWhole),
    [true, true],
  );
});

test("answers that take their time are waited for", { skip }, async () => {
  await using tested = await behindProxy();
  proxy.setFaults(() => ({ delayMs: 100 }));
  await uploadInParts(tested.store, newKey());
  proxy.setFaults(() => "forward");
});

test("while the bucket refuses, is silent or is not there, no caller gets to hear that an object is gone", {
  skip,
}, async () => {
  const key = newKey();
  {
    await using tested = await behindProxy();
    for (const fault of ["slow down", "never answer"] as const) {
      proxy.setFaults(() => fault);
      await assert.rejects(tested.store.stat(key), BucketUnavailableError);
      assert.match((await tested.store.check())!, /HeadBucket/);
      proxy.setFaults(() => "forward");
    }
    assert.equal(await tested.store.stat(key), undefined);
    assert.equal(await tested.store.check(), undefined);
  }
  await using elsewhere = await serveS3Store(place, { bucket: "nowhere" });
  await assert.rejects(elsewhere.store.stat(key), /bucket/i);
  assert.match((await elsewhere.store.check())!, /not there/);
  await using stranger = await serveS3Store(place, { credentials: ceph.reader });
  await assert.rejects(stranger.store.open(key), BucketUnavailableError);
  await assert.rejects(stranger.store.stat(key), /s3:GetObject/);
});

test("parts beyond one page of the bucket's list are listed and become the object", { skip }, async () => {
  await using tested = await serveS3Store(place);
  const [key, partSizeBytes] = [newKey(), 1024];
  const bytes = randomBytes(1003 * partSizeBytes + 5);
  const parts = cutParts(bytes, partSizeBytes);
  await tested.store.createUpload(key, { sizeBytes: bytes.byteLength, partSizeBytes });
  const waiting = parts.values();
  const send = async () => {
    for (const part of waiting) await tested.store.receivePart(key, part.plan, inPieces(part.bytes));
  };
  await Promise.all([send(), send(), send(), send(), send(), send(), send(), send()]);
  const listed = await tested.store.listParts(key);
  assert.equal(listed.length, 1004);
  await tested.store.completeUpload(key, listed);
  assert(bytes.equals(await readBlob(await tested.store.open(key))));
});

test("a link to the bucket is valid only for the bytes that were granted, and for each number only for the first ones", {
  skip,
}, async () => {
  await using tested = await serveS3Store(place, { isDirect: true });
  const [key, bytes] = [newKey(), randomBytes(3 * PART_BYTES)];
  const [, part] = cutParts(bytes, PART_BYTES);
  await tested.store.createUpload(key, { sizeBytes: bytes.byteLength, partSizeBytes: PART_BYTES });
  const [grant] = await tested.store.grantParts(key, [part!.plan]);
  assert(grant!.url.startsWith(ceph.endpoint));
  const other = cutParts(randomBytes(3 * PART_BYTES), PART_BYTES)[1]!;
  await assert.rejects(tested.store.grantParts(key, [other.plan]), PartConflictError);
  const put = async (body: Buffer, headers: Record<string, string>, url = grant!.url) =>
    (await fetch(url, { method: "PUT", headers, body: new Uint8Array(body) })).status;
  assert.equal(await put(other.bytes, grant!.headers), 400);
  assert.equal(await put(other.bytes, { "content-md5": other.plan.digest }), 403);
  assert.equal(await put(part!.bytes, {}), 403);
  assert.equal(await put(part!.bytes.subarray(1), grant!.headers), 403);
  assert.equal(await put(part!.bytes, grant!.headers, grant!.url.replace("partNumber=2", "partNumber=1")), 403);
  assert.deepEqual(await tested.store.listParts(key), []);
  assert.equal(await put(part!.bytes, grant!.headers), 200);
  assert.deepEqual(
    (await tested.store.listParts(key)).map(({ number }) => number),
    [2],
  );
  await tested.store.abortUpload(key);
});

test("of different bytes that are granted for one part at the same time, only one content is taken", {
  skip,
}, async () => {
  await using tested = await serveS3Store(place, { isDirect: true });
  for (let round = 0; round < 10; round++) {
    const key = newKey();
    await tested.store.createUpload(key, { sizeBytes: 3 * PART_BYTES, partSizeBytes: PART_BYTES });
    const rivals = [0, 1, 2].map(() => cutParts(randomBytes(3 * PART_BYTES), PART_BYTES)[1]!.plan);
    const granted = await Promise.allSettled(rivals.map((part) => tested.store.grantParts(key, [part])));
    assert.deepEqual(granted.map(({ status }) => status).sort(), ["fulfilled", "rejected", "rejected"]);
    await tested.store.abortUpload(key);
  }
});

test("an upload that the bucket itself dropped is closed, and may start over", { skip }, async () => {
  const prefix = `${randomBytes(6).toString("hex")}/`;
  await using tested = await serveS3Store(place, { prefix });
  const key = newKey();
  const plan = { sizeBytes: 10, partSizeBytes: 10 };
  await tested.store.createUpload(key, plan);
  const { uploadId } = (await keepUploadRecords(db, "a bucket").find(key))!;
  await client.send(new AbortMultipartUploadCommand({ Bucket: bucket, Key: prefix + key, UploadId: uploadId }));
  await assert.rejects(tested.store.listParts(key), UploadClosedError);
  await tested.store.createUpload(key, plan);
  const [part] = cutParts(randomBytes(10), 10);
  await tested.store.receivePart(key, part!.plan, inPieces(part!.bytes));
  await tested.store.completeUpload(key, [part!.plan]);
  await assert.rejects(tested.store.createUpload(key, plan), BlobExistsError);
});

test("processes that open one upload at the same time all continue with the same one", { skip }, async () => {
  await using tested = await serveS3Store(place);
  const key = newKey();
  const plan = { sizeBytes: 10, partSizeBytes: 10 };
  await Promise.all(Array.from({ length: 8 }, () => tested.store.createUpload(key, plan)));
  assert.equal(await countUnfinished(), 1);
  await tested.store.abortUpload(key);
  assert.equal(await countUnfinished(), 0);
});

test("the probe finds nothing wrong with a bucket that may be used, and leaves nothing in it", { skip }, async () => {
  const empty = await ceph.makeBucket();
  assert.deepEqual(await probeBucket({ ...access, bucket: empty, credentials: ceph.owner }), []);
  await using tested = await serveS3Store({ ...place, bucket: empty }, { prefix: "" });
  assert.deepEqual(await Array.fromAsync(tested.store.list("")), []);
});

test("the probe names the permission that is missing", { skip }, async () => {
  for (const missing of permissions) {
    const refusing = await ceph.makeBucket();
    await allowReader(ceph, refusing, { missing });
    const faults = await probeBucket({ ...access, bucket: refusing, credentials: ceph.reader });
    assert(
      faults.some((fault) => fault.endsWith(`it needs ${missing}`)),
      `without ${missing}: ${faults.join("; ")}`,
    );
  }
});

test("the probe says what else is wrong: no such bucket, nobody answers", { skip }, async () => {
  const noBucket = await probeBucket({ ...access, bucket: "nowhere", credentials: ceph.owner });
  assert.match(noBucket.join("\n"), /NoSuchBucket/);
  const nobody = { ...access, endpoint: "http://127.0.0.1:9", credentials: ceph.owner };
  assert.match((await probeBucket(nobody)).join("\n"), /ECONNREFUSED/);
});

/** Counts the uploads in parts that the bucket holds and that neither became an object nor were aborted. */
async function countUnfinished(): Promise<number> {
  const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: bucket }));
  return Uploads.length;
}

async function openAll() {
  const ceph = stack.use(await runCeph());
  const proxy = stack.use(await proxyS3(ceph.endpoint));
  const log = { warn: () => {} };
  const db = stack.use(openDatabase(await createTestDatabase({ after }), { maxConnections: 10, log }));
  const bucket = await ceph.makeBucket();
  const access = { endpoint: ceph.endpoint, region: "us-east-1", forcePathStyle: true, prefix: "", bucket };
  const client = new S3Client({ ...access, credentials: ceph.owner });
  stack.defer(() => client.destroy());
  return { ceph, proxy, db, bucket, place: { ceph, bucket, db }, access, client };
}

async function uploadInParts(store: BlobStore, key: string): Promise<void> {
  const bytes = randomBytes(2 * PART_BYTES + 100);
  await store.createUpload(key, { sizeBytes: bytes.byteLength, partSizeBytes: PART_BYTES });
  const parts = cutParts(bytes, PART_BYTES);
  for (const { plan, bytes: part } of parts) await store.receivePart!(key, plan, inPieces(part));
  await store.completeUpload(key, await store.listParts(key));
  assert(bytes.equals(await readBlob(await store.open(key))));
}
