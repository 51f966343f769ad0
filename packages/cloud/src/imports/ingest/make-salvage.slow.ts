import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api } from "@downlink/protocol";
import { makeMcap } from "@downlink/recordings/testing";
import { ThreadFailedError } from "../../background/indexing/indexing-errors.ts";
import type { Transaction } from "../../db/transaction.ts";
import { StorageFullError } from "../../store/blobs/blob-errors.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { createRunningClock } from "../../testing/test-clock.ts";
import { putFile } from "../../testing/upload-file.ts";
import { makeSalvage } from "./make-salvage.ts";
import { ingest } from "./pipeline.ts";
import { reconcile } from "./reconcile.ts";

const SECOND = 1_000_000_000n;
const clock = createRunningClock();
const cloud = await startCloud({ after }, { works: false, clock });
const { admin, deps } = cloud;
const { prisma } = deps.db;
const never = new AbortController().signal;
let minute = 0n;

/** Makes an upload of a cut file that was refused, and the request for its salvage; no worker is running. */
async function askForSalvage() {
  minute += 60n;
  const whole = await makeMcap({ startNs: (1_760_000_000n + minute) * SECOND, chunkBytes: 20_000 });
  const { link, requestId: sourceId } = await admin.call(api.uploads.create, {
    filename: "a.mcap",
    deviceName: "robot",
  });
  await putFile(link, whole.subarray(0, whole.byteLength * 0.7));
  await ingest(deps, sourceId, never);
  const { requestId } = await admin.call(api.pendingImports.salvage, { requestId: sourceId });
  return { sourceId, requestId };
}

const requestOf = (id: string) => prisma.importRequest.findUniqueOrThrow({ where: { id } });
const uploadsOf = (requestId: string) => prisma.upload.findMany({ where: { requestId }, orderBy: { id: "asc" } });
const statesOf = async (requestId: string) => (await uploadsOf(requestId)).map(({ state }) => state);

async function storedKeys(): Promise<string[]> {
  const keys: string[] = [];
  for await (const { key } of deps.blobs.list("")) keys.push(key);
  return keys.sort();
}

/** Checks that exactly one recording resulted, and nothing is stored but the file, its salvage with its index, and what `before` names. */
async function assertMadeOnce({ sourceId, requestId }: { sourceId: string; requestId: string }, before: string[]) {
  await ingest(deps, requestId, never);
  const ended = await requestOf(requestId);
  assert.deepEqual([ended.state, ended.errorText], ["complete", null]);
  const { blobKey, indexKey } = await prisma.recording.findUniqueOrThrow({ where: { id: ended.recordingId! } });
  assert.equal(await prisma.recording.count({ where: { path: "a.salvage.mcap", blobKey } }), 1);
  clock.aheadNs += 1_000n * SECOND;
  await reconcile(deps);
  const { state, blobKey: sourceKey } = await requestOf(sourceId);
  assert.equal(state, "error");
  assert.deepEqual(await storedKeys(), [...new Set([...before, sourceKey!, blobKey!, indexKey!])].sort());
}

/** The process is dead: it does nothing more. */
const killed = () => Promise.reject(new KilledError());
class KilledError extends Error {}
const dead = { delete: killed };

type Blobs = Partial<typeof deps.blobs>;

/** Works on the job like a process that dies at the given methods of the store, and commits nothing from then on. */
async function workUntilKilled(requestId: string, blobs: Blobs, more: object = {}): Promise<void> {
  const enqueue = killed;
  const store = Object.assign(Object.create(deps.blobs), dead, blobs);
  await assert.rejects(
    makeSalvage({ ...deps, jobs: { ...deps.jobs, enqueue }, blobs: store, ...more }, requestId, never),
    KilledError,
  );
}

const put = deps.blobs.put.bind(deps.blobs);

const crashes: Record<string, (requestId: string) => Promise<void>> = {
  "before it opens the file": (id) => workUntilKilled(id, { open: killed }),
  "before the first byte": (id) => workUntilKilled(id, { put: killed }),
  "in the middle of the bytes": (id) =>
    workUntilKilled(id, {
      put: async (key, body) => {
        await deps.blobs.createUpload(key, { sizeBytes: 10, partSizeBytes: 10 }); // the remains of a killed write
        for await (const _piece of body) throw new KilledError();
        throw new Error("there was no piece");
      },
    }),
  "between the last byte and the commit": (id) =>
    workUntilKilled(id, { put: (key, body, options) => put(key, body, options).then(killed) }),
  "in the commit": (id) => workUntilKilled(id, {}),
};

for (const [when, crash] of Object.entries(crashes))
  test(`a worker that is killed ${when} leaves a salvage that the next one makes once, and leaves nothing over`, async () => {
    const asked = await askForSalvage();
    const before = await storedKeys();
    await crash(asked.requestId);
    assert.deepEqual(await statesOf(asked.requestId), ["open"]);
    await makeSalvage(deps, asked.requestId, never);
    assert.deepEqual(await statesOf(asked.requestId), ["open"], "it may be alive: nobody begins beside it");
    clock.aheadNs += 21n * SECOND;
    await makeSalvage(deps, asked.requestId, never);
    assert.deepEqual(await statesOf(asked.requestId), ["abandoned", "stored"]);
    await makeSalvage(deps, asked.requestId, never); // a repeat of the job
    await assertMadeOnce(asked, before);
    assert.deepEqual(await statesOf(asked.requestId), ["removed", "stored"]);
  });

test("a commit whose answer the worker does not get is not undone", async () => {
  const asked = await askForSalvage();
  const before = await storedKeys();
  const transact = prisma.$transaction.bind(prisma);
  let count = 0;
  const unheard = async (work: (tx: Transaction) => Promise<unknown>) => {
    const answer = await transact(work);
    count += 1;
    if (count === 2) throw new Error("ECONNRESET"); // the first transaction takes the job
    return answer;
  };
  const broken = new Proxy(prisma, { get: (of, name) => (name === "$transaction" ? unheard : Reflect.get(of, name)) });
  await makeSalvage({ ...deps, db: { ...deps.db, prisma: broken } }, asked.requestId, never);
  assert.deepEqual(await statesOf(asked.requestId), ["stored"]);
  await assertMadeOnce(asked, before);
});

test("of two jobs at the same moment one makes the salvage", async () => {
  const asked = await askForSalvage();
  const before = await storedKeys();
  await Promise.all([1, 2, 3].map(() => makeSalvage(deps, asked.requestId, never)));
  assert.deepEqual(await statesOf(asked.requestId), ["stored"]);
  await assertMadeOnce(asked, before);
});

test("an attempt that was taken for dead and comes back changes nothing and leaves nothing", async () => {
  const asked = await askForSalvage();
  const before = await storedKeys();
  const written = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const blobs: typeof deps.blobs = Object.assign(Object.create(deps.blobs), {
    put: async (...given: Parameters<typeof put>) => {
      const stored = await put(...given);
      written.resolve();
      await goOn.promise;
      return stored;
    },
  });
  const late = makeSalvage({ ...deps, blobs }, asked.requestId, never);
  await written.promise;
  clock.aheadNs += 21n * SECOND;
  await makeSalvage(deps, asked.requestId, never);
  const { blobKey } = await requestOf(asked.requestId);
  goOn.resolve();
  await late;
  assert.equal((await requestOf(asked.requestId)).blobKey, blobKey);
  await assertMadeOnce(asked, before);
});

test("a lost job is queued again, unless an attempt shows that it is alive", async () => {
  const { requestId } = await askForSalvage();
  const queued: string[] = [];
  const jobs = { ...deps.jobs, enqueue: async (_tx: unknown, { name }: { name: string }) => void queued.push(name) };
  await reconcile({ ...deps, jobs });
  assert.deepEqual(queued, []);
  clock.aheadNs += 121n * SECOND;
  await reconcile({ ...deps, jobs });
  await reconcile({ ...deps, jobs });
  assert.deepEqual(queued, ["salvage"]);
  await makeSalvage(deps, requestId, never);
});

test("a worker that is told to stop leaves nothing, and another one need not wait", async () => {
  const asked = await askForSalvage();
  const before = await storedKeys();
  const stopping = new AbortController();
  const reason = new Error("stopping");
  const blobs: typeof deps.blobs = Object.assign(Object.create(deps.blobs), {
    put: (...given: Parameters<typeof put>) => {
      stopping.abort(reason);
      return put(...given);
    },
  });
  await assert.rejects(makeSalvage({ ...deps, blobs }, asked.requestId, stopping.signal), reason);
  assert.deepEqual([await statesOf(asked.requestId), await storedKeys()], [["removed"], before]);
  await makeSalvage(deps, asked.requestId, never);
  await assertMadeOnce(asked, before);
});

test("a temporary failure is tried again later; reading that fails each time ends with a reason, and a retry starts over", async () => {
  const asked = await askForSalvage();
  const before = await storedKeys();
  const full: typeof deps.blobs = Object.assign(Object.create(deps.blobs), {
    put: () => Promise.reject(new StorageFullError(new Error("ENOSPC"))),
  });
  await makeSalvage({ ...deps, blobs: full }, asked.requestId, never);
  const postponed = await requestOf(asked.requestId);
  assert.deepEqual([postponed.state, postponed.attempts], ["awaiting", 1]);
  assert.ok(postponed.nextAttemptAtNs! > postponed.updatedAtNs);

  const salvage = async function* () {
    yield await Promise.reject<Uint8Array>(new ThreadFailedError("it ended"));
  };
  const indexer = Object.assign(Object.create(deps.indexer), { salvage });
  for (let attempt = 2; attempt <= 12; attempt++) await makeSalvage({ ...deps, indexer }, asked.requestId, never);
  const failed = await requestOf(asked.requestId);
  assert.deepEqual([failed.state, failed.errorCode, failed.attempts], ["error", "IndexingFailed", 12]);
  assert.deepEqual(await storedKeys(), before);
  await admin.call(api.pendingImports.retry, { requestId: asked.requestId });
  await makeSalvage(deps, asked.requestId, never);
  await assertMadeOnce(asked, before);
});

test("while the file is being imported again its salvage waits; a file that is imported whole needs none", async () => {
  const { sourceId, requestId } = await askForSalvage();
  await admin.call(api.pendingImports.retry, { requestId: sourceId });
  await makeSalvage(deps, requestId, never);
  const waiting = await requestOf(requestId);
  assert.deepEqual([waiting.state, waiting.attempts, await statesOf(requestId)], ["awaiting", 0, []]);
  await prisma.importRequest.update({ where: { id: sourceId }, data: { state: "complete" } });
  await makeSalvage(deps, requestId, never);
  const ended = await requestOf(requestId);
  assert.deepEqual([ended.state, ended.errorCode], ["error", "NotSalvageable"]);
  assert.match(ended.errorText!, /was imported whole; there is nothing to salvage/);
});

test("a file that is retried while it is salvaged gets no salvage before that import has ended", async () => {
  const asked = await askForSalvage();
  const before = await storedKeys();
  const blobs: typeof deps.blobs = Object.assign(Object.create(deps.blobs), {
    put: async (...given: Parameters<typeof put>) => {
      const stored = await put(...given);
      await admin.call(api.pendingImports.retry, { requestId: asked.sourceId });
      return stored;
    },
  });
  await makeSalvage({ ...deps, blobs }, asked.requestId, never);
  assert.deepEqual([(await requestOf(asked.requestId)).state, await storedKeys()], ["awaiting", before]);
  await ingest(deps, asked.sourceId, never); // it fails again
  await makeSalvage(deps, asked.requestId, never);
  await assertMadeOnce(asked, before);
});

test("if the file is gone meanwhile the salvage ends with a reason", async () => {
  const { sourceId, requestId } = await askForSalvage();
  const { blobKey } = await requestOf(sourceId);
  await deps.blobs.delete(blobKey!);
  for (let attempt = 1; attempt <= 12; attempt++) await makeSalvage(deps, requestId, never);
  assert.equal((await requestOf(requestId)).errorCode, "ObjectMissing");
  const cancelled = await askForSalvage();
  await prisma.importRequest.update({ where: { id: cancelled.sourceId }, data: { state: "cancelled", blobKey: null } });
  await makeSalvage(deps, cancelled.requestId, never);
  assert.match((await requestOf(cancelled.requestId)).errorText!, /was cancelled, and its file is not stored/);
});
