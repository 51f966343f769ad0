import assert from "node:assert/strict";
import { after, test } from "node:test";
import {
  DeleteBucketLifecycleCommand,
  type LifecycleRule,
  PutBucketLifecycleConfigurationCommand,
  S3Client,
} from "@aws-sdk/client-s3";
import { makeMcap } from "@downlink/recordings/testing";
import { openFileIndexer } from "../../background/indexing/file-indexer.ts";
import { openDatabase } from "../../db/client.ts";
import { createTestDatabase } from "../../testing/test-database.ts";
import type { BucketCall } from "../blobs/buckets/bucket-call.ts";
import { BucketUnavailableError } from "../blobs/buckets/bucket-unavailable.ts";
import { adviseLifecycle } from "../blobs/s3/advise-lifecycle.ts";
import { digest, inPieces, newKey, readBlob } from "../blobs/testing/pieces.ts";
import { serveS3Store } from "./testing/open-s3-store.ts";
import { runCeph, whyNoCeph } from "./testing/run-ceph.ts";
import { faultFor, proxyS3 } from "./testing/s3-proxy.ts";

const skip = whyNoCeph();
const stack = new AsyncDisposableStack();
after(() => stack.disposeAsync());
const opened = skip === undefined ? await openAll() : undefined;
// Where there is none every test is skipped, and none of these is looked at.
const { ceph, proxy, bucket, place, access, client } = opened ?? ({} as Awaited<ReturnType<typeof openAll>>);

test("the start advises a rule that ends unfinished uploads, and says so where one ends them too early", {
  skip,
}, async () => {
  const options = { ...access, prefix: "robots/", credentials: ceph.owner };
  const setRules = (...days: number[]) => {
    const Rules = days.map((DaysAfterInitiation, index): LifecycleRule => {
      return {
        ID: `rule-${index}`,
        Status: "Enabled",
        Filter: { Prefix: index === 0 ? "" : "others/" },
        AbortIncompleteMultipartUpload: { DaysAfterInitiation },
      };
    });
    const LifecycleConfiguration = { Rules };
    return client.send(new PutBucketLifecycleConfigurationCommand({ Bucket: bucket, LifecycleConfiguration }));
  };
  assert.match((await adviseLifecycle(options))!, /no lifecycle rule .* 30 days or more/);
  await setRules(3);
  assert.match((await adviseLifecycle(options))!, /after 3 days.* 30 days or more/);
  await setRules(30, 3);
  assert.equal(await adviseLifecycle(options), undefined);
  await client.send(new DeleteBucketLifecycleCommand({ Bucket: bucket }));
  assert.equal(await adviseLifecycle({ ...options, credentials: ceph.reader }), undefined);
});

test("each call to the bucket is counted once, by verb and outcome, however often it was tried", { skip }, async () => {
  const calls: string[] = [];
  const onCall = ({ verb, outcome, seconds }: BucketCall) => {
    assert.ok(seconds >= 0);
    calls.push(`${verb} ${outcome}`);
  };
  await using tested = await serveS3Store(place, { endpoint: proxy.endpoint, silenceMs: 2000, attempts: 2, onCall });
  const key = newKey();
  proxy.setFaults(faultFor(/^PUT /, "slow down", 1));
  await tested.store.put(key, inPieces(Buffer.from("some bytes")));
  await readBlob(await tested.store.open(key));
  proxy.setFaults(() => "slow down");
  await assert.rejects(tested.store.stat(key), BucketUnavailableError);
  proxy.setFaults(() => "forward");
  assert.deepEqual(calls, [
    ...["HeadObject refused", "HeadBucket done", "PutObject done"],
    ...["HeadObject done", "GetObject done", "HeadObject failed"],
  ]);
});

test("an import reads an object by one streamed request, which goes on after a break, and at most four others", {
  skip,
}, async () => {
  await using tested = await serveS3Store(place, { endpoint: proxy.endpoint });
  await using indexer = openFileIndexer();
  const bytes = await makeMcap({ durationSeconds: 30 });
  const [key, indexKey] = [newKey(), newKey()];
  await tested.store.put(key, inPieces(bytes, 100_000));
  for (const breaks of [0, 2]) {
    await tested.store.delete(indexKey);
    let left = breaks;
    proxy.setFaults((call) => (/^GET .*GetObject/.test(call) && left-- > 0 ? "break off" : "forward"));
    await using reader = await tested.store.open(key);
    const store = async (pieces: AsyncIterable<Uint8Array>) => void (await tested.store.put(indexKey, pieces));
    const signal = AbortSignal.timeout(60_000);
    const { contentSha256 } = await indexer.index(reader, { fileName: "a.mcap", signal, store });
    assert.equal(contentSha256, digest("sha256", bytes, "hex"));
    const reads = proxy.calls().filter((call) => /^GET .*GetObject/.test(call));
    assert.ok(reads.length <= 1 + 4 + breaks, reads.join("\n"));
  }
  proxy.setFaults(() => "forward");
});

async function openAll() {
  const ceph = stack.use(await runCeph());
  const proxy = stack.use(await proxyS3(ceph.endpoint));
  const log = { warn: () => {} };
  const db = stack.use(openDatabase(await createTestDatabase({ after }), { maxConnections: 10, log }));
  const bucket = await ceph.makeBucket();
  const access = { endpoint: ceph.endpoint, region: "us-east-1", forcePathStyle: true, bucket };
  const client = new S3Client({ ...access, credentials: ceph.owner });
  stack.defer(() => client.destroy());
  return { ceph, proxy, bucket, place: { ceph, bucket, db }, access, client };
}
