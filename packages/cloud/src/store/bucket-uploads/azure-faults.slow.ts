import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, test } from "node:test";
import { pino } from "pino";
import { openDatabase } from "../../db/client.ts";
import { createTestDatabase } from "../../testing/test-database.ts";
import { probeContainer } from "../blobs/azure/probe-container.ts";
import { BlobDamagedError, BlobExistsError, BlobNotFoundError, UploadClosedError } from "../blobs/blob-errors.ts";
import type { BlobStore } from "../blobs/blob-store.ts";
import type { BucketCall } from "../blobs/buckets/bucket-call.ts";
import { BucketUnavailableError } from "../blobs/buckets/bucket-unavailable.ts";
import { cutParts, inPieces, newKey, readAll, readBlob } from "../blobs/testing/pieces.ts";
import { serveAzureStore } from "./testing/open-azure-store.ts";
import { runAzurite, whyNoAzurite } from "./testing/run-azurite.ts";
import { type Fault, faultFor, proxyS3 } from "./testing/s3-proxy.ts";

const PART_BYTES = 64 * 1024;
/** An object of this size is written in some blocks. */
const LARGE_BYTES = 4 * PART_BYTES + 77;

const skip = whyNoAzurite();
const stack = new AsyncDisposableStack();
after(() => stack.disposeAsync());
const opened = skip === undefined ? await openAll() : undefined;
// Without the emulator every test is skipped, and none of these is used.
const { azurite, proxy, container, place, access } = opened ?? ({} as Awaited<ReturnType<typeof openAll>>);

const behindProxy = (options: Partial<Parameters<typeof serveAzureStore>[1]> = {}) =>
  serveAzureStore(place, {
    ...{ endpoint: `${proxy.endpoint}/${azurite.account}`, silenceMs: 2000, attempts: 3, blockBytes: PART_BYTES },
    ...options,
  });

const calls = {
  "of a blob that is written at once": /^PUT [^?]*$/,
  "of a block": /^PUT .*comp=block&/,
  "of the list of blocks": /^PUT .*comp=blocklist/,
  "of a look at it": /^HEAD /,
};
for (const [what, call] of Object.entries(calls))
  for (const fault of ["lose the answer", "slow down"] as const)
    test(`${fault} ${what}, once: the object is stored exactly, and nothing is left beside it`, { skip }, async () => {
      await using tested = await behindProxy();
      for (const bytes of [randomBytes(1000), randomBytes(LARGE_BYTES)]) {
        proxy.setFaults(faultFor(call, fault, 1));
        const key = newKey();
        await tested.store.put(key, inPieces(bytes, 100_000));
        await uploadInParts(tested.store, newKey());
        proxy.setFaults(() => "forward");
        assert(bytes.equals(await readBlob(await tested.store.open(key))));
      }
      await assertOnlyObjects(tested.store, 4);
    });

test("a part and a list of blocks to which no answer comes are sent again", { skip }, async () => {
  await using tested = await behindProxy({ silenceMs: 500 });
  for (const call of [calls["of a blob that is written at once"], calls["of the list of blocks"]]) {
    proxy.setFaults(faultFor(call, "never answer", 1));
    await uploadInParts(tested.store, newKey());
  }
  proxy.setFaults(() => "forward");
  await assertOnlyObjects(tested.store, 2);
});

test("a completion to which no answer ever comes is found by its object", { skip }, async () => {
  await using tested = await behindProxy();
  proxy.setFaults(faultFor(calls["of the list of blocks"], "lose the answer"));
  await uploadInParts(tested.store, newKey());
  await tested.store.put(newKey(), inPieces(randomBytes(LARGE_BYTES), 100_000));
  proxy.setFaults(() => "forward");
  await assertOnlyObjects(tested.store, 2);
});

test("an upload that ends at any of its calls is gone on with, and leaves nothing behind", { skip }, async () => {
  await using tested = await behindProxy({ attempts: 1 });
  const bytes = randomBytes(PART_BYTES + 100);
  let isWhole = false;
  let calls = 0;
  for (; !isWhole; calls += 1) {
    const key = newKey();
    proxy.setFaults(endAfter(calls));
    isWhole = await goOn(tested.store, key, bytes).then(
      () => true,
      (error) => (error instanceof BucketUnavailableError ? false : Promise.reject(error)),
    );
    proxy.setFaults(() => "forward");
    await goOn(tested.store, key, bytes);
    assert(bytes.equals(await readBlob(await tested.store.open(key))), `after ${calls} calls`);
  }
  assert(calls > 10);
  await assertOnlyObjects(tested.store, calls);
});

test("the join of many parts goes on where another process was cut off", { skip }, async () => {
  await using tested = await behindProxy({ attempts: 1 });
  const [key, partSizeBytes] = [newKey(), 1024];
  const bytes = randomBytes(40 * partSizeBytes - 7);
  await tested.store.createUpload(key, { sizeBytes: bytes.byteLength, partSizeBytes });
  for (const { plan, bytes: part } of cutParts(bytes, partSizeBytes))
    await tested.store.receivePart(key, plan, inPieces(part, partSizeBytes));
  const listed = await tested.store.listParts(key);
  assert.equal(listed.length, 40);
  let copies = 0;
  proxy.setFaults((call) => (/comp=block&/.test(call) && ++copies > 20 ? "slow down" : "forward"));
  await assert.rejects(tested.store.completeUpload(key, listed), BucketUnavailableError);
  proxy.setFaults(() => "forward");
  await tested.store.completeUpload(key, listed);
  assert.equal(proxy.calls().filter((call) => /comp=block&/.test(call)).length, 20);
  assert(bytes.equals(await readBlob(await tested.store.open(key))));
});

test("parts outlast what anybody stages under the key, and an object that came first is not replaced", {
  skip,
}, async () => {
  const prefix = `${randomBytes(6).toString("hex")}/`;
  await using tested = await serveAzureStore(place, { prefix });
  const [key, bytes] = [newKey(), randomBytes(PART_BYTES + 100)];
  const blob = azurite.open(container).getBlockBlobClient(prefix + key);
  const id = Buffer.from(`${"f".repeat(32)}-00001`).toString("base64");
  await tested.store.createUpload(key, { sizeBytes: bytes.byteLength, partSizeBytes: PART_BYTES });
  for (const { plan, bytes: part } of cutParts(bytes, PART_BYTES))
    await tested.store.receivePart(key, plan, inPieces(part));
  const listed = await tested.store.listParts(key);
  await blob.stageBlock(id, "other", 5);
  await blob.commitBlockList([id]);
  await assert.rejects(tested.store.completeUpload(key, listed), BlobExistsError);
  assert.equal(String(await readBlob(await tested.store.open(key))), "other");
  assert.deepEqual(await tested.store.listParts(key), listed);
  await blob.delete();
  await blob.stageBlock(id, "other", 5);
  await tested.store.completeUpload(key, listed);
  assert(bytes.equals(await readBlob(await tested.store.open(key))));
});

test("a part that arrives while its upload is given up is refused, and leaves nothing behind", { skip }, async () => {
  await using tested = await behindProxy();
  for (let round = 0; round < 10; round += 1) {
    const [key, bytes] = [newKey(), randomBytes(PART_BYTES)];
    await tested.store.createUpload(key, { sizeBytes: PART_BYTES, partSizeBytes: PART_BYTES });
    const { plan } = cutParts(bytes, PART_BYTES)[0]!;
    const [sent] = await Promise.allSettled([
      tested.store.receivePart(key, plan, inPieces(bytes, PART_BYTES)),
      tested.store.abortUpload(key),
    ]);
    assert(sent.status === "fulfilled" || sent.reason instanceof UploadClosedError, String(sent));
    assert.equal(await tested.store.stat(key), undefined);
  }
  assert.deepEqual(await Array.fromAsync(tested.store.list("")), []);
});

test("processes that open one upload at the same time all continue with the same one", { skip }, async () => {
  await using tested = await serveAzureStore(place);
  const key = newKey();
  await Promise.all(
    Array.from({ length: 8 }, () => tested.store.createUpload(key, { sizeBytes: 10, partSizeBytes: 10 })),
  );
  const begun = (await azurite.readBlobs(container)).filter((blob) => blob.key.includes(`_parts/${key}/`));
  assert.equal(begun.length, 1);
});

test("while the service refuses, is silent or is not there, no caller gets to hear that an object is gone", {
  skip,
}, async () => {
  const key = newKey();
  {
    await using tested = await behindProxy({ attempts: 2, silenceMs: 300 });
    for (const fault of ["slow down", "never answer", "lose the answer"] as const) {
      proxy.setFaults(() => fault);
      await assert.rejects(tested.store.stat(key), BucketUnavailableError);
      if (fault !== "never answer") await assert.rejects(tested.store.getNote("marks/1"), BucketUnavailableError);
      assert.match((await tested.store.check())!, /ListBlobs/);
      proxy.setFaults(() => "forward");
    }
    assert.equal(await tested.store.stat(key), undefined);
    assert.equal(await tested.store.check(), undefined);
  }
  await using elsewhere = await serveAzureStore(place, { container: "nowhere" });
  await assert.rejects(elsewhere.store.stat(key), /the container of the object store is not there/);
  await assert.rejects(elsewhere.store.getNote("marks/1"), BucketUnavailableError);
  assert.match((await elsewhere.store.check())!, /not there/);
  const wrong = { accountKey: randomBytes(64).toString("base64") };
  await using stranger = await serveAzureStore(place, { credential: wrong });
  await assert.rejects(stranger.store.open(key), BucketUnavailableError);
});

test("a stream that breaks off again and again goes on where it was, and an answer that is lost comes again", {
  skip,
}, async () => {
  await using tested = await behindProxy();
  const [key, bytes] = [newKey(), randomBytes(LARGE_BYTES)];
  await tested.store.put(key, inPieces(bytes, 100_000));
  await using reader = await tested.store.open(key);
  for (const [fault, times] of [
    ["break off", 3],
    ["slow down", 1],
    ["lose the answer", 1],
  ] satisfies [Fault, number][]) {
    proxy.setFaults(faultFor(/^GET /, fault, times));
    assert(bytes.equals(await readAll(reader.stream())));
    assert.equal(proxy.calls().length, times + 1);
  }
  proxy.setFaults(() => "forward");
  await tested.store.delete(key);
  await assert.rejects(reader.read(0, 100), BlobNotFoundError);
  await tested.store.put(key, inPieces(randomBytes(1000), 1000));
  await assert.rejects(reader.read(0, 100), BlobDamagedError);
});

test("each call is counted once, by verb and outcome, however often it was tried", { skip }, async () => {
  const counted: string[] = [];
  const onCall = ({ verb, outcome, seconds }: BucketCall) => {
    assert.ok(seconds >= 0);
    counted.push(`${verb} ${outcome}`);
  };
  await using tested = await behindProxy({ attempts: 2, onCall });
  const key = newKey();
  proxy.setFaults(faultFor(/^PUT /, "slow down", 1));
  await tested.store.put(key, inPieces(Buffer.from("some bytes")));
  await readBlob(await tested.store.open(key));
  proxy.setFaults(() => "slow down");
  await assert.rejects(tested.store.stat(key), BucketUnavailableError);
  proxy.setFaults(() => "forward");
  assert.deepEqual(counted, [
    ...["GetBlobProperties refused", "PutBlob done"],
    ...["GetBlobProperties done", "GetBlob done", "GetBlobProperties failed"],
  ]);
});

test("the probe finds nothing wrong with a container that may be used, and leaves nothing in it", {
  skip,
}, async () => {
  const empty = await azurite.makeContainer();
  assert.deepEqual(await probeContainer({ ...access, container: empty }), []);
  const sasToken = azurite.signFor(empty, "rwdl");
  assert.deepEqual(await probeContainer({ ...access, container: empty, credential: { sasToken } }), []);
  assert.deepEqual(await azurite.readBlobs(empty), []);
});

test("a store with a shared access signature stores what every store does", { skip }, async () => {
  const credential = { sasToken: azurite.signFor(container, "rwdl") };
  await using tested = await serveAzureStore(place, { credential });
  await uploadInParts(tested.store, newKey());
  await assertOnlyObjects(tested.store, 1);
});

const permissions = { r: "read (r)", w: "write (w)", d: "delete (d)", l: "list (l)" };
test("the probe names the permission that is missing", { skip }, async () => {
  for (const [missing, name] of Object.entries(permissions)) {
    const refusing = await azurite.makeContainer();
    const sasToken = azurite.signFor(refusing, "rwdl".replace(missing, ""));
    const faults = await probeContainer({ ...access, container: refusing, credential: { sasToken } });
    assert(
      faults.some((fault) => fault.endsWith(`it needs the permission to ${name}`)),
      `without ${missing}: ${faults.join("; ")}`,
    );
  }
});

test("what is logged of a failed call shows neither a signature nor a key", { skip }, async () => {
  const lines: string[] = [];
  const log = pino({}, { write: (line: string) => lines.push(line) });
  const sasToken = azurite.signFor(container, "rl");
  const signature = new URLSearchParams(sasToken).get("sig")!;
  await using signed = await serveAzureStore(place, { credential: { sasToken } });
  await using keyed = await serveAzureStore(place, { container: "nowhere" });
  await using away = await serveAzureStore(place, { endpoint: "http://127.0.0.1:9/nobody", attempts: 1 });
  for (const { store } of [signed, keyed, away])
    await store.put(newKey(), inPieces(randomBytes(10))).catch((err) => log.error({ err, cause: err.cause }));
  assert.equal(lines.length, 3);
  for (const secret of [signature, encodeURIComponent(signature), azurite.accountKey])
    for (const line of lines) assert(!line.includes(secret), line);
});

test("the probe says what else is wrong: no such container, nobody answers", { skip }, async () => {
  assert.match((await probeContainer({ ...access, container: "nowhere" })).join("\n"), /is not there/);
  const nobody = { ...access, endpoint: "http://127.0.0.1:9/nobody", attempts: 1 };
  assert.match((await probeContainer(nobody)).join("\n"), /ECONNREFUSED/);
});

async function openAll() {
  const azurite = stack.use(await runAzurite());
  const { account, endpoint, accountKey } = azurite;
  const proxy = stack.use(await proxyS3(endpoint));
  const log = { warn: () => {} };
  const db = stack.use(openDatabase(await createTestDatabase({ after }), { maxConnections: 10, log }));
  const container = await azurite.makeContainer();
  const access = { account, endpoint, container, prefix: "", credential: { accountKey } };
  return { azurite, proxy, db, container, place: { azurite, container, db }, access };
}

/** Forwards some calls, loses the answer to the next one, and refuses all others. */
function endAfter(calls: number): () => Fault {
  let left = calls;
  return () => {
    left -= 1;
    if (left >= 0) return "forward";
    return left === -1 ? "lose the answer" : "slow down";
  };
}

/** Uploads what is missing, as every sender does that comes again. */
async function goOn(store: BlobStore, key: string, bytes: Buffer): Promise<void> {
  const parts = cutParts(bytes, PART_BYTES);
  try {
    await store.createUpload(key, { sizeBytes: bytes.byteLength, partSizeBytes: PART_BYTES });
    const known = new Set((await store.listParts(key)).map(({ number }) => number));
    for (const { plan, bytes: part } of parts)
      if (!known.has(plan.number)) await store.receivePart!(key, plan, inPieces(part, PART_BYTES));
  } catch (error) {
    if (!(error instanceof BlobExistsError)) throw error;
  }
  await store.completeUpload(
    key,
    parts.map(({ plan }) => plan),
  );
}

async function uploadInParts(store: BlobStore, key: string): Promise<void> {
  const bytes = randomBytes(2 * PART_BYTES + 100);
  await goOn(store, key, bytes);
  assert(bytes.equals(await readBlob(await store.open(key))));
}

/** Looks at the container, too, because a list shows no remains beside an object. */
async function assertOnlyObjects(store: BlobStore, count: number): Promise<void> {
  const listed = await Array.fromAsync(store.list(""));
  assert.equal(listed.length, count);
  const blobs = await Array.fromAsync(azurite.open(container).listBlobsFlat());
  for (const { key, isWhole } of listed) {
    assert(isWhole, key);
    assert.deepEqual(
      blobs.filter(({ name }) => name.includes(`/${key}`)).map(({ name }) => name.split("/").length),
      [3],
      key,
    );
  }
}
