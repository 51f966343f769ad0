// Moves between files, a real S3 and an emulator of Azure, and what a killed command leaves. Without Ceph and Azurite only files are tried.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { openDatabase } from "../../db/client.ts";
import { testClock, testSigner } from "../../store/blobs/testing/open-file-store.ts";
import { readBlob } from "../../store/blobs/testing/pieces.ts";
import type { StoreAddress } from "../../store/bucket-uploads/store-address.ts";
import { allowReader } from "../../store/bucket-uploads/testing/bucket-policy.ts";
import { runAzurite, whyNoAzurite } from "../../store/bucket-uploads/testing/run-azurite.ts";
import { runCeph, whyNoCeph } from "../../store/bucket-uploads/testing/run-ceph.ts";
import { createTestDatabase } from "../../testing/test-database.ts";
import { copyExits } from "./copy-exits.ts";
import { describeCopy } from "./copy-store.suite.ts";
import { describeKilledCopies } from "./killed-copies.suite.ts";
import { openTarget } from "./open-target.ts";
import { lateSwitch } from "./testing/late-switch.ts";
import { keysOf, newManifest, openMove } from "./testing/open-move.ts";
import { useAccountKey, useCredentials, useProfiles } from "./testing/use-credentials.ts";

const skip = whyNoCeph();
const stack = new AsyncDisposableStack();
after(() => stack.disposeAsync());
const root = await mkdtemp(join(tmpdir(), "downlink-copy-"));
stack.defer(() => rm(root, { recursive: true }));
const ceph = skip === undefined ? stack.use(await runCeph()) : undefined;
const bucket = await ceph?.makeBucket();
if (ceph) useCredentials(ceph.owner);
const skipAzure = whyNoAzurite();
const azurite = skipAzure === undefined ? stack.use(await runAzurite()) : undefined;
const container = await azurite?.makeContainer();
if (azurite) useAccountKey(azurite);

const newFolder = async (): Promise<StoreAddress> => ({ kind: "file", directory: await mkdtemp(join(root, "store-")) });
const newPrefix = async (): Promise<StoreAddress & { kind: "s3" }> => ({
  ...{ kind: "s3", bucket: bucket!, endpoint: ceph!.endpoint, region: "us-east-1", forcePathStyle: true },
  ...{ prefix: `${randomBytes(6).toString("hex")}/`, isDirect: false },
});
const newContainerPrefix = async (): Promise<StoreAddress> => ({
  ...{ kind: "azure", account: azurite!.account, endpoint: azurite!.endpoint, container: container! },
  prefix: `${randomBytes(6).toString("hex")}/`,
});
const between = (from: typeof newFolder, to: typeof newFolder) => async () => ({ source: await from(), newTarget: to });

/** A bucket of another account, into which only the profile `new` may write. */
async function newAccount(): Promise<StoreAddress & { kind: "s3" }> {
  const other = await ceph!.makeBucket();
  await allowReader(ceph!, other, { isClosedToOwner: true });
  return { ...(await newPrefix()), bucket: other, profile: "new" };
}

/** The owner's credentials are those of a process; the other user's are in a profile. */
async function useBothAccounts(t: TestContext): Promise<void> {
  const { owner, reader } = ceph!;
  await useProfiles(join(root, "credentials"), { default: owner, new: reader });
  t.after(() => useCredentials(owner));
}

describeKilledCopies("from files to files", { openPlaces: between(newFolder, newFolder) });
describeCopy("from files to S3", { openPlaces: between(newFolder, newPrefix), skip });
describeKilledCopies("from files to S3", { openPlaces: between(newFolder, newPrefix), skip, stride: 5 });
describeCopy("from S3 to files", { openPlaces: between(newPrefix, newFolder), skip });
describeCopy("from S3 to S3", { openPlaces: between(newPrefix, newPrefix), skip });
describeKilledCopies("from S3 to S3", { openPlaces: between(newPrefix, newPrefix), skip, stride: 7 });
describeCopy("from files to Azure", { openPlaces: between(newFolder, newContainerPrefix), skip: skipAzure });
describeKilledCopies("from Azure to files", {
  ...{ openPlaces: between(newContainerPrefix, newFolder), skip: skipAzure, stride: 7 },
});
describeCopy("from S3 to Azure", { openPlaces: between(newPrefix, newContainerPrefix), skip: skip ?? skipAzure });

test("objects move to a bucket of another account, each bucket with its own credentials", { skip }, async (t) => {
  await useBothAccounts(t);
  const [source, target] = [await newPrefix(), await newAccount()];
  const move = await openMove(t, { source, newTarget: async () => target });
  const opened = stack.use(new AsyncDisposableStack());
  const { profile: _, ...nameless } = target;
  const deps = { db: move.db, signer: testSigner, clock: testClock, publicUrl: () => "" };
  await assert.rejects(openTarget(opened, nameless, deps), /it needs s3:PutObject/, "the old credentials are refused");
  const keys = [await move.store(), await move.store()].sort();
  await openTarget(opened, target, deps);
  const { copy } = await move.begin();
  await assert.rejects(copy({}, { db: lateSwitch(move.db) }), /after the switch/);
  keys.push(await move.store());
  const after = await move.seenBy(target);
  for (const store of [move.blobs, after]) assert.deepEqual(await keysOf(store), keys.sort());
  assert.equal(await copy(), copyExits.done);
  assert.equal(await move.stateNow(), "kept");
  assert.deepEqual(await keysOf(after), keys);
  for (const key of keys) await readBlob(await after.open(key));
});

/** The error of the move when it meets the missing permission. Without s3:ListBucket a bucket does not say that an object is not there. */
const lacks = {
  "s3:PutObject": /it needs s3:PutObject$/,
  "s3:GetObject": /it needs s3:GetObject$/,
  "s3:DeleteObject": /it needs s3:DeleteObject$/,
  "s3:ListBucket": /it needs s3:(ListBucket|GetObject)$/,
};
for (const [missing, sentence] of Object.entries(lacks))
  test(`a new store without ${missing} is refused with its name, before the move and in it, and nothing is half switched`, {
    skip,
  }, async (t) => {
    await useBothAccounts(t);
    const target = await newAccount();
    const move = await openMove(t, { source: await newPrefix(), newTarget: async () => target });
    const deps = { db: move.db, signer: testSigner, clock: testClock, publicUrl: () => "" };
    const opened = stack.use(new AsyncDisposableStack());
    const requireRefused = async () => {
      await allowReader(ceph!, target.bucket, { missing });
      const opening = openTarget(opened, target, deps);
      await assert.rejects(opening, (error: Error) => error.message.includes(`it needs ${missing}`));
      await allowReader(ceph!, target.bucket);
    };
    const key = await move.store();
    await requireRefused();
    assert.equal(await move.stateNow(), undefined);
    const { copy, target: fresh } = await move.begin();
    await requireRefused();
    await fresh.putNote(newManifest(), Buffer.from("of an object that is removed meanwhile")); // a copy of before, which is to go
    await allowReader(ceph!, target.bucket, { missing });
    await assert.rejects(copy(), ({ message }: Error) => sentence.test(message));
    assert.equal(await move.stateNow(), "copying");
    await readBlob(await move.blobs.open(key));
    await allowReader(ceph!, target.bucket);
    assert.equal(await copy(), copyExits.done);
    assert.deepEqual(await keysOf(fresh), [key]);
  });

test("a bucket that is not there is named, with each operation that fails", { skip }, async (t) => {
  await using db = openDatabase(await createTestDatabase(t), { maxConnections: 1, log: { warn: () => {} } });
  await using opened = new AsyncDisposableStack();
  const address = { ...(await newPrefix()), bucket: "not-there" };
  const deps = { db, signer: testSigner, clock: testClock, publicUrl: () => "" };
  await assert.rejects(openTarget(opened, address, deps), /s3:\/\/not-there\/.* cannot be used: write: .*; list: /);
});
