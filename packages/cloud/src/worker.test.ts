import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api } from "@downlink/protocol";
import { eventually, makeMcap } from "@downlink/recordings/testing";
import { newId } from "./db/ids.ts";
import { withTransaction } from "./db/transaction.ts";
import { ingest } from "./imports/ingest/pipeline.ts";
import { reconcile } from "./imports/ingest/reconcile.ts";
import { inPieces } from "./store/blobs/testing/pieces.ts";
import { startCloud } from "./testing/start-cloud.ts";
import { startWorker } from "./worker.ts";

const cloud = await startCloud({ after }, { works: false });
const { admin, deps } = cloud;
const { prisma } = deps.db;
const isGone = (key: string) => deps.blobs.stat(key).then((object) => object === undefined);

async function storeObject(): Promise<string> {
  const blobKey = `org_worker/${newId("upl")}`;
  await deps.blobs.put(blobKey, inPieces(Buffer.alloc(10)));
  return blobKey;
}

function enqueueRemoval(blobKey: string, fail?: Error) {
  return withTransaction(deps.db, async (tx) => {
    await deps.jobs.enqueue(tx, { name: "remove-object", data: { blobKey } });
    if (fail) throw fail;
  });
}

test("a deletion queues its job in the same transaction: a later worker removes the object, and a rolled back one removes nothing", async () => {
  const { link, requestId } = await admin.call(api.uploads.create, { filename: "a.mcap", deviceName: "robot" });
  const headers = { "content-type": "application/octet-stream" };
  await fetch(link, { method: "PUT", headers, body: (await makeMcap()) as Uint8Array<ArrayBuffer> });
  await ingest(deps, requestId, new AbortController().signal);
  const { id, blobKey, indexKey } = await prisma.recording.findFirstOrThrow();
  const kept = await storeObject();
  await assert.rejects(enqueueRemoval(kept, new Error("rolled back")), /rolled back/);
  await admin.call(api.recordings.delete, { keyOrId: id }); // this process may end here: no worker runs in it
  const jobs = await prisma.$queryRaw<{ data: { blobKey: string } }[]>`
    SELECT data FROM pgboss.job WHERE name = 'remove-object.2'`;
  assert.deepEqual(jobs.map(({ data }) => data.blobKey).sort(), [blobKey, indexKey].sort());
  assert.equal(await isGone(blobKey!), false);

  const failing = new Set([blobKey!]);
  const remove = async (key: string) => {
    if (failing.delete(key)) throw new Error("EIO");
    await deps.blobs.delete(key);
  };
  await using _sender = await startWorker({ ...deps, blobs: { ...deps.blobs, delete: remove } });
  await eventually(() => isGone(blobKey!), Boolean);
  assert.equal(failing.size, 0, "the first try failed");
  assert.equal(await isGone(kept), false);
});

test("removing an object twice is harmless", async () => {
  const blobKey = await storeObject();
  await enqueueRemoval(blobKey);
  await enqueueRemoval(blobKey);
  const states = () => prisma.$queryRaw<{ state: string }[]>`
    SELECT state::text FROM pgboss.job WHERE name = 'remove-object.2' AND data->>'blobKey' = ${blobKey}`;
  await eventually(states, (found) => found.length === 2 && found.every(({ state }) => state === "completed"));
  assert.ok(await isGone(blobKey));
});

test("an upload that cannot be removed holds up no other one", async () => {
  const { requestId } = await admin.call(api.uploads.create, { filename: "b.mcap", deviceName: "robot" });
  const { orgId } = await prisma.importRequest.findUniqueOrThrow({ where: { id: requestId } });
  const keys = [await storeObject(), await storeObject()];
  for (const blobKey of keys) {
    const row = { id: newId("upl"), orgId, requestId, kind: "parts", blobKey, state: "abandoned" } as const;
    await prisma.upload.create({ data: { ...row, createdAtNs: 0n, updatedAtNs: 0n } });
  }
  const remove = (key: string) => (key === keys[0] ? Promise.reject(new Error("EIO")) : deps.blobs.delete(key));
  await reconcile({ ...deps, blobs: { ...deps.blobs, delete: remove } });
  assert.deepEqual(await Promise.all(keys.map(isGone)), [false, true]);
  await reconcile(deps);
  assert.ok(await isGone(keys[0]!));
});
