import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, test } from "node:test";
import { openDatabase } from "../../db/client.ts";
import { createTestDatabase } from "../../testing/test-database.ts";
import { BlobDamagedError, BlobNotFoundError } from "../blobs/blob-errors.ts";
import { BucketUnavailableError } from "../blobs/buckets/bucket-unavailable.ts";
import { inPieces, newKey, readAll } from "../blobs/testing/pieces.ts";
import { serveS3Store } from "./testing/open-s3-store.ts";
import { runCeph, whyNoCeph } from "./testing/run-ceph.ts";
import { faultFor, proxyS3 } from "./testing/s3-proxy.ts";

const MiB = 1024 * 1024;

const skip = whyNoCeph();
const stack = new AsyncDisposableStack();
after(() => stack.disposeAsync());
const opened = skip === undefined ? await openAll() : undefined;
// Without a real S3 every test is skipped, and none of these is used.
const { proxy, place } = opened ?? ({} as Awaited<ReturnType<typeof openAll>>);

const behindProxy = () =>
  serveS3Store(place, { endpoint: proxy.endpoint, silenceMs: 2000, attempts: 4, blockBytes: MiB });

test("a stream that breaks off again and again goes on where it was", { skip }, async () => {
  await using tested = await behindProxy();
  const [key, bytes] = [newKey(), randomBytes(3 * MiB)];
  await tested.store.put(key, inPieces(bytes, 100_000));
  proxy.setFaults(faultFor(/^GET /, "break off", 4));
  await using reader = await tested.store.open(key);
  assert(bytes.equals(await readAll(reader.stream())));
  assert(proxy.calls().length >= 5);
  proxy.setFaults(() => "forward");
});

for (const fault of ["slow down", "never answer", "lose the answer"] as const)
  test(`${fault} of a read, once: it is sent again, and its bytes are the stored ones`, { skip }, async () => {
    await using tested = await behindProxy();
    const [key, bytes] = [newKey(), randomBytes(MiB)];
    await tested.store.put(key, inPieces(bytes, 100_000));
    await using reader = await tested.store.open(key);
    proxy.setFaults(faultFor(/^GET /, fault, 1));
    assert(bytes.equals(await readAll(reader.stream())));
    assert.equal(proxy.calls().length, 2);
    proxy.setFaults(() => "forward");
  });

test("a read tells a bucket that refuses or is lost from an object that is gone and from one that is another", {
  skip,
}, async () => {
  await using tested = await behindProxy();
  const key = newKey();
  await tested.store.put(key, inPieces(randomBytes(1000), 1000));
  await using reader = await tested.store.open(key);
  for (const fault of ["slow down", "lose the answer"] as const) {
    proxy.setFaults(() => fault);
    await assert.rejects(reader.read(0, 100), BucketUnavailableError);
  }
  proxy.setFaults(() => "forward");
  await tested.store.delete(key);
  await assert.rejects(reader.read(0, 100), BlobNotFoundError);
  await tested.store.put(key, inPieces(randomBytes(1000), 1000));
  await assert.rejects(reader.read(0, 100), BlobDamagedError);
});

test("an object that is opened for its end takes one request, and is read all the same if that breaks off", {
  skip,
}, async () => {
  await using tested = await behindProxy();
  const [key, bytes] = [newKey(), randomBytes(1000)];
  await tested.store.put(key, inPieces(bytes, 1000));
  for (const breaks of [0, 1]) {
    proxy.setFaults(faultFor(/^GET /, "break off", breaks));
    await using reader = await tested.store.open(key, { endBytes: 400 });
    assert(bytes.subarray(600).equals(await reader.read(600, 400)));
    assert.equal(proxy.calls().length, breaks === 0 ? 1 : 3);
    assert(bytes.equals(await reader.read(0, 1000)));
  }
  proxy.setFaults(() => "forward");
});

async function openAll() {
  const ceph = stack.use(await runCeph());
  const proxy = stack.use(await proxyS3(ceph.endpoint));
  const log = { warn: () => {} };
  const db = stack.use(openDatabase(await createTestDatabase({ after }), { maxConnections: 10, log }));
  return { proxy, place: { ceph, bucket: await ceph.makeBucket(), db } };
}
