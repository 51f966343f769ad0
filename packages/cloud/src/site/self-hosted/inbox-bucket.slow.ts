import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, test } from "node:test";
import { DeleteObjectCommand, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { connectInboxBucket, type InboxBucket } from "../../store/blobs/s3/inbox-bucket.ts";
import { type Ceph, runCeph, whyNoCeph } from "../../store/bucket-uploads/testing/run-ceph.ts";
import { openInboxBucket } from "./inbox-bucket.ts";
import { openInboxPlace } from "./open-inbox-place.ts";
import { recoverFiles } from "./received-files.ts";
import { dyingAt, dyingStore, lookTwice, openInboxScene, silent, textsOf } from "./testing/inbox-scene.ts";

const PREFIX = "in box/+ü/";
const COPY_PART_BYTES = 5 * 1024 * 1024;

const skip = whyNoCeph();
const stack = new AsyncDisposableStack();
after(() => stack.disposeAsync());
const running = skip === undefined ? stack.use(await runCeph()) : undefined;
const ceph = (): Ceph => running!;
const access = () => ({
  ...{ endpoint: ceph().endpoint, region: "us-east-1", forcePathStyle: true, credentials: ceph().owner },
});

/** An inbox that is a part of a bucket with versions. Other programs put, and remove, by a client of their own. */
async function open() {
  const { store, states, startOver } = await openInboxScene(stack);
  const name = await ceph().makeBucket();
  const client = new S3Client(access());
  stack.defer(() => client.destroy());
  const enable = () => ceph().keepVersions(name);
  const bucket = stack.use(
    connectInboxBucket({ ...access(), bucket: name, prefix: PREFIX, copyPartBytes: COPY_PART_BYTES }),
  );
  return {
    ...{ name, bucket, store, states, enable },
    put: (path: string, text = path) =>
      client.send(new PutObjectCommand({ Bucket: name, Key: PREFIX + path, Body: text })),
    remove: (path: string) => client.send(new DeleteObjectCommand({ Bucket: name, Key: PREFIX + path })),
    left: async () => (await ceph().readObjects(name)).map(({ key }) => key.slice(PREFIX.length)).sort(),
    start: (of: InboxBucket = bucket, blobs = store) => startOver(openInboxBucket(of, PREFIX, silent), blobs),
  };
}

test("an object is copied under a key of its own, and its version leaves the inbox once its import is complete", {
  skip,
}, async () => {
  const { store, states, put, left, start, enable } = await open();
  await put("old.mcap", "from before the bucket had versions");
  await enable();
  await put("lab/a.mcap");
  const inbox = start();
  await lookTwice(inbox);
  assert.deepEqual(await textsOf(store), ["from before the bucket had versions", "lab/a.mcap"]);
  states.set("lab/a.mcap", "processing");
  await inbox.look();
  assert.deepEqual(await left(), ["lab/a.mcap", "old.mcap"]);
  for (const path of await left()) states.set(path, "complete");
  await inbox.look();
  assert.deepEqual([await left(), await Array.fromAsync(store.listNotes("inbox/"))], [[], []]);
});

test("of versions under one name each is imported, whenever it came, and a removal removes no other", {
  skip,
}, async () => {
  const { store, states, put, left, start, enable } = await open();
  await enable();
  await put("a.mcap", "first");
  const inbox = start();
  await lookTwice(inbox);
  await put("a.mcap", "second");
  states.set("a.mcap", "complete");
  await inbox.look();
  assert.deepEqual(await left(), ["a.mcap"]);
  states.delete("a.mcap");
  await lookTwice(inbox);
  assert.deepEqual(await textsOf(store), ["first", "second"]);
  for (let looks = 0; looks < 4; looks++) {
    states.set("a.mcap", "complete");
    await inbox.look();
  }
  assert.deepEqual(await left(), []);
});

test("what cannot be imported goes under _quarantine/ with the reason beside it, also what is copied in parts, or has the longest name", {
  skip,
}, async () => {
  const { store, states, put, left, start, enable, name } = await open();
  await enable();
  const large = randomBytes(7 * 1024 * 1024).toString("latin1");
  const longest = "n".repeat(1024 - Buffer.byteLength(PREFIX));
  await put("lab/large.mcap", large);
  await put(longest, "cut");
  const inbox = start();
  await lookTwice(inbox);
  for (const path of ["lab/large.mcap", longest]) states.set(path, "error");
  await inbox.look();
  const names = await left();
  assert.equal(names.length, 4);
  for (const pattern of [/^_quarantine\/req_\w+\/lab\/large\.mcap$/, /^_quarantine\/req_\w+\/object$/])
    assert.equal(names.filter((path) => pattern.test(path)).length, 1, names.join());
  assert.equal(names.filter((path) => /^_quarantine\/req_\w+\.reason\.txt$/.test(path)).length, 2);
  const copy = (await ceph().readObjects(name)).find(({ key }) => key.endsWith("large.mcap"));
  assert.equal(copy!.sizeBytes, Buffer.byteLength(large));
  await lookTwice(inbox);
  assert.equal((await textsOf(store)).length, 2, "what stands there is not imported");
});

test("names of every kind are imported; those that are others', or not whole yet, are not", { skip }, async () => {
  const { store, put, start, enable } = await open();
  await enable();
  const names = ["a b+c%2F.mcap", "übung 🤖.mcap", "line\nbreak.mcap", "a?b=c&d#e.mcap", "x//y.mcap", "%00"];
  for (const name of names) await put(name);
  const theirs = ["_quarantine/a", "lake/a", "_downlink/a", ".hidden", ".git/a", "../a", "a.part", "folder/"];
  for (const name of theirs) await put(name);
  await lookTwice(start());
  assert.deepEqual(await textsOf(store), names.toSorted());
});

test("an object that is removed by others before it is copied is forgotten", { skip }, async () => {
  const { store, put, remove, start, enable } = await open();
  await enable();
  await put("a.mcap");
  const inbox = start();
  await inbox.look();
  await remove("a.mcap");
  await lookTwice(inbox);
  assert.deepEqual([await textsOf(store), await Array.fromAsync(store.listNotes("inbox/"))], [[], []]);
});

test("killed at each durable step, the next process imports the object once, and removes it from the inbox", {
  skip,
}, async () => {
  for (const end of ["complete", "error"] as const)
    for (let step = 0; step < (end === "complete" ? 10 : 12); step++) {
      const { bucket, store, states, put, left, start, enable } = await open();
      await enable();
      await put("a.mcap");
      const dying = dyingAt(step);
      const { copy, putText, remove } = bucket;
      const dead = { ...bucket, copy: dying(copy), putText: dying(putText), remove: dying(remove) };
      const killed = start(dead, dyingStore(store, dying));
      await lookTwice(killed).catch(() => {});
      if ((await textsOf(store)).length > 0) states.set("a.mcap", end);
      await killed.look().catch(() => {});
      await recoverFiles(store);
      const next = start();
      await lookTwice(next);
      states.set("a.mcap", end);
      await next.look();
      assert.deepEqual(await textsOf(store), ["a.mcap"], `step ${step}`);
      const rest = (await left()).map((path) => path.replace(/req_\w+/, "request"));
      const quarantined = ["_quarantine/request.reason.txt", "_quarantine/request/a.mcap"];
      assert.deepEqual(rest, end === "complete" ? [] : quarantined, `step ${step}`);
      assert.deepEqual(await Array.fromAsync(store.listNotes("inbox/")), []);
    }
});

test("a bucket without versions is refused in a sentence, and a probe leaves no object in one with versions", {
  skip,
}, async () => {
  const { name, bucket, left, enable } = await open();
  assert.match((await bucket.probe())!, /it keeps no versions/);
  await enable();
  assert.equal(await bucket.probe(), undefined);
  assert.deepEqual(await left(), []);
  const closed = { ...access(), bucket: name, prefix: PREFIX, isDirect: false, credentials: ceph().reader };
  const opening = openInboxPlace(stack, { inboxBucket: closed }, { log: silent, metrics: undefined });
  await assert.rejects(opening, /DOWNLINK_S3_INBOX_…: s3:\/\/bucket-\w+\/in box\/.* can be no inbox: .*403/);
});
