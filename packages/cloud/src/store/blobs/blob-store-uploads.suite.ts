import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import {
  BlobExistsError,
  PartConflictError,
  PartRefusedError,
  PartsMissingError,
  UploadClosedError,
  UploadMismatchError,
} from "./blob-errors.ts";
import type { BlobStore, PartPlan } from "./blob-store.ts";
import { type CutPart, cutPart, cutParts, newKey, readBlob } from "./testing/pieces.ts";
import type { Promises, StoreUnderTest } from "./testing/store-under-test.ts";

/** Sends a part to the target that was granted for it, as every sender does. */
export async function sendPart(store: BlobStore, key: string, { plan, bytes }: CutPart): Promise<Response> {
  const [grant] = await store.grantParts(key, [plan]);
  return fetch(grant!.url, { method: "PUT", headers: grant!.headers, body: new Uint8Array(bytes) });
}

const wholeUploads: Promises = {
  "parts sent in any order and at the same time become the object": async (tested) => {
    const open = await openUpload(tested);
    const { store, key, bytes, parts } = open;
    const answers = await Promise.all([...parts].reverse().map((part) => sendPart(store, key, part)));
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200],
    );
    assert.equal(await store.stat(key), undefined);
    await store.completeUpload(key, await store.listParts(key));
    assert(bytes.equals(await readBlob(await store.open(key))));
    assert.equal((await store.stat(key))?.sizeBytes, bytes.byteLength);
  },

  "an empty file is an upload without parts": async (tested) => {
    const key = newKey();
    await tested.store.createUpload(key, { sizeBytes: 0, partSizeBytes: tested.partSizeBytes });
    await tested.store.completeUpload(key, []);
    assert.equal((await tested.store.stat(key))?.sizeBytes, 0);
  },

  "createUpload is repeatable and keeps the parts; another plan, or a completed upload, is refused": async (tested) => {
    const open = await openUpload(tested);
    const { store, key, plan, parts } = open;
    await sendPart(store, key, parts[0]!);
    await store.createUpload(key, plan);
    assert.deepEqual(
      (await store.listParts(key)).map(({ number }) => number),
      [1],
    );
    await assert.rejects(store.createUpload(key, { ...plan, sizeBytes: plan.sizeBytes - 1 }), UploadMismatchError);
    await assert.rejects(
      store.createUpload(key, { ...plan, partSizeBytes: plan.partSizeBytes + 1 }),
      UploadMismatchError,
    );
    await Promise.all(parts.slice(1).map((part) => sendPart(store, key, part)));
    await store.completeUpload(key, await store.listParts(key));
    await assert.rejects(store.createUpload(key, plan), BlobExistsError);
  },
};

const acknowledgement: Promises = {
  "listParts returns exactly the parts that were acknowledged, by number": async (tested) => {
    const open = await openUpload(tested);
    const { store, key, parts } = open;
    assert.deepEqual(await store.listParts(key), []);
    for (const index of [2, 0]) assert.equal((await sendPart(store, key, parts[index]!)).status, 200);
    const listed = (await store.listParts(key)).map(({ number, digest, lengthBytes }) => ({
      number,
      digest,
      lengthBytes,
    }));
    assert.deepEqual(listed, [parts[0]!.plan, parts[2]!.plan]);
  },

  "a part whose bytes are not those announced is refused and does not count": async (tested) => {
    const open = await openUpload(tested);
    const { store, key, parts } = open;
    const [part] = parts;
    const flipped = Buffer.from(part!.bytes);
    flipped[flipped.byteLength >> 1]! ^= 1;
    for (const bytes of [flipped, part!.bytes.subarray(1), Buffer.concat([part!.bytes, Buffer.alloc(1)])])
      assert.notEqual((await sendPart(store, key, { plan: part!.plan, bytes })).status, 200);
    assert.deepEqual(await store.listParts(key), []);
    assert.equal((await sendPart(store, key, part!)).status, 200);
  },

  "a part may be sent again, also at the same time; other bytes under its number are refused": async (tested) => {
    const open = await openUpload(tested);
    const { store, key, bytes, parts } = open;
    const twice = [...parts, ...parts, ...parts.slice(0, 1)];
    for (const { status } of await Promise.all(twice.map((part) => sendPart(store, key, part))))
      assert.equal(status, 200);
    const other = cutPart(1, randomBytes(parts[0]!.bytes.byteLength));
    await assert.rejects(store.grantParts(key, [other.plan]), PartConflictError);
    await store.completeUpload(key, await store.listParts(key));
    assert(bytes.equals(await readBlob(await store.open(key))));
  },

  "a grant is refused outside of the plan, and where no upload is open": async (tested) => {
    const open = await openUpload(tested);
    const { store, key, parts } = open;
    const { plan } = parts[0]!;
    for (const wrong of [
      { number: 0 },
      { number: 4 },
      { number: 1.5 },
      { number: 3 },
      { lengthBytes: plan.lengthBytes - 1 },
    ])
      await assert.rejects(store.grantParts(key, [{ ...plan, ...wrong }]), PartRefusedError, JSON.stringify(wrong));
    await assert.rejects(store.grantParts(newKey(), [plan]), UploadClosedError);
  },
};

const completion: Promises = {
  "completeUpload names the first part that is missing or differs from what was stated, and changes nothing": async (
    tested,
  ) => {
    const open = await openUpload(tested);
    const { store, key, parts } = open;
    const shown: PartPlan[] = parts.map(({ plan }) => plan);
    await Promise.all([parts[0]!, parts[2]!].map((part) => sendPart(store, key, part)));
    await assert.rejects(store.completeUpload(key, shown), isPartsMissing(/^part 2 of 3/));
    await sendPart(store, key, parts[1]!);
    await assert.rejects(store.completeUpload(key, shown.slice(0, 2)), isPartsMissing(/^part 3 of 3/));
    const otherDigest = [shown[0]!, { ...shown[1]!, digest: shown[0]!.digest }, shown[2]!];
    await assert.rejects(store.completeUpload(key, otherDigest), isPartsMissing(/^part 2 of 3/));
    assert.equal(await store.stat(key), undefined);
    await store.completeUpload(key, await store.listParts(key));
  },

  "completeUpload is repeatable, also at the same time, but not with another length": async (tested) => {
    const open = await openUpload(tested);
    const { store, key, bytes, parts } = open;
    await Promise.all(parts.map((part) => sendPart(store, key, part)));
    const shown = await store.listParts(key);
    await Promise.all([store.completeUpload(key, shown), store.completeUpload(key, shown)]);
    await store.completeUpload(key, shown);
    await assert.rejects(store.completeUpload(key, shown.slice(1)), PartsMissingError);
    await assert.rejects(store.listParts(key), UploadClosedError);
    assert(bytes.equals(await readBlob(await store.open(key))));
  },

  "abortUpload forgets an unfinished upload, leaves a completed one, and is harmless where there is none": {
    async inEmptyStore(tested) {
      const open = await openUpload(tested);
      const { store, key, plan, parts } = open;
      await sendPart(store, key, parts[0]!);
      await store.abortUpload(key);
      await store.abortUpload(key);
      await assert.rejects(store.listParts(key), UploadClosedError);
      await assert.rejects(
        store.completeUpload(
          key,
          parts.map((part) => part.plan),
        ),
        UploadClosedError,
      );
      assert.deepEqual(await Array.fromAsync(store.list("")), []);
      await store.createUpload(key, plan);
      await Promise.all(parts.map((part) => sendPart(store, key, part)));
      await store.completeUpload(key, await store.listParts(key));
      await store.abortUpload(key);
      assert(await store.stat(key));
    },
  },
};

/** Creates an open upload of three parts, of which the last one is shorter. */
async function openUpload(tested: StoreUnderTest) {
  const key = newKey();
  const bytes = randomBytes(2 * tested.partSizeBytes + 1234);
  const plan = { sizeBytes: bytes.byteLength, partSizeBytes: tested.partSizeBytes };
  await tested.store.createUpload(key, plan);
  return {
    store: tested.store,
    key,
    bytes,
    plan,
    parts: cutParts(bytes, tested.partSizeBytes),
  };
}

function isPartsMissing(sentence: RegExp) {
  return (error: unknown) => error instanceof PartsMissingError && sentence.test(error.message);
}

/** The promises that every blob store keeps for uploads in parts. */
export const uploads: Promises = { ...wholeUploads, ...acknowledgement, ...completion };
