import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, test } from "node:test";
import { api, PART_UPLOAD_DAYS, TrainingMapping } from "@downlink/protocol";
import { makeMcap, readMessages } from "@downlink/recordings/testing";
import type { JobName } from "./background/jobs/queue.ts";
import { queueOf } from "./background/jobs/queue-names.ts";
import type { Ctx } from "./calls/context/context.ts";
import { buildTrainingSet } from "./data/training/build-set.ts";
import { trainingSets } from "./data/training/training-sets.ts";
import { prepareView } from "./data/view-links/prepare-view.ts";
import { viewLinks } from "./data/view-links/view-links.ts";
import { ingest } from "./imports/ingest/pipeline.ts";
import { reconcile } from "./imports/ingest/reconcile.ts";
import { partUploads } from "./imports/part-uploads/part-uploads.ts";
import { isUploadKey, MANIFESTS, readManifestKey } from "./keeping/manifests/manifest.ts";
import { removeOrPutOff } from "./keeping/manifests/remove-or-put-off.ts";
import { findOwners } from "./keeping/sweep/find-owners.ts";
import { sweepBySchedule } from "./keeping/sweep/scheduled-sweep.ts";
import { operatorIn } from "./operator-commands/act-as-operator.ts";
import type { BlobStore } from "./store/blobs/blob-store.ts";
import { type DyingProcess, dieAt } from "./testing/die-at.ts";
import { startCloud } from "./testing/start-cloud.ts";
import { sha256 } from "./testing/test-agent.ts";
import { createRunningClock } from "./testing/test-clock.ts";

const MINUTE_NS = 60_000_000_000n;
const DAY_MINUTES = 1440;
const clock = createRunningClock();
const cloud = await startCloud({ after }, { clock, works: false });
const { admin, deps } = cloud;
const { prisma } = deps.db;
const { id: keyId, orgId } = await prisma.apiKey.findFirstOrThrow();
const caller = { kind: "apiKey", keyId, orgId, capabilities: ["*"], projectIds: [], expiresAtNs: null } as const;
const ctx: Ctx = { ...operatorIn(deps, orgId), caller };
const { signal } = new AbortController();

const work = {
  "prepare-view": ({ viewId }) => prepareView(deps, viewId!, signal),
  "build-training-set": ({ setId }) => buildTrainingSet(deps, setId!, signal),
  "remove-object": ({ blobKey }) => removeOrPutOff(deps, blobKey!),
  ingest: ({ requestId }) => ingest(deps, requestId!, signal),
} satisfies Partial<Record<JobName, (data: Record<string, string>) => Promise<void>>>;

/** Does each job that is due, as another process would. */
async function doJobs(): Promise<void> {
  for (const [name, act] of Object.entries(work)) {
    const jobs = await prisma.$queryRaw<{ data: Record<string, string> }[]>`
      DELETE FROM pgboss.job WHERE name = ${queueOf(name as JobName)} AND state < 'active' AND start_after <= now()
      RETURNING data`;
    for (const { data } of jobs) await act(data);
  }
}

/** The queue reads the machine's clock, so that its jobs come nearer instead. */
async function letQueueWait(minutes: number): Promise<void> {
  clock.aheadNs += BigInt(minutes) * MINUTE_NS;
  await prisma.$executeRaw`UPDATE pgboss.job SET start_after = start_after - make_interval(mins => ${minutes}::int)`;
  await doJobs();
}

async function letTimePass(minutes: number): Promise<void> {
  await letQueueWait(minutes);
  await reconcile(deps);
  await sweepBySchedule(deps, signal);
}

/** Fails for an object, or the remains of one, that no sweep and no job will ever remove, and that no row needs. */
async function requireOwners(after: string): Promise<void> {
  const objects = await Array.fromAsync(deps.blobs.list(""));
  const owners = await findOwners(
    prisma,
    objects.map(({ key }) => key),
  );
  const noted = await readNoted();
  for (const { key, isWhole } of objects) {
    const { isHeld, uploadState } = owners.get(key)!;
    assert.ok(isHeld || uploadState !== null || !isWhole, `nothing owns ${key}; the process died before ${after}`);
    assert.ok(!isUploadKey(key) || noted.has(key), `no note says whose ${key} is; the process died before ${after}`);
  }
}

/** Returns the keys of the objects that notes describe. */
async function readNoted(): Promise<Set<string | undefined>> {
  const notes = await Array.fromAsync(deps.blobs.listNotes(MANIFESTS));
  return new Set(notes.map(({ key }) => readManifestKey(key)?.blobKey));
}

/** Lets a process die before its first call, its second one, and so on, until it does all of its work. */
async function dieEverywhere(round: (dying: DyingProcess<Ctx>) => Promise<void>): Promise<string[]> {
  const died: string[] = [];
  for (let last = 1; ; last++) {
    using dying = dieAt(ctx, last);
    await round(dying);
    const call = dying.diedBefore();
    if (call === undefined) return died;
    died.push(call);
  }
}

let made = 0;
const newBytes = async () => Buffer.from(await makeMcap({ durationSeconds: 1, seed: 5000 + made++ }));

interface Sent {
  requestId?: string;
}

async function begin(by: Ctx, bytes: Buffer, sent: Sent): Promise<void> {
  const body = { filename: "a.mcap", deviceName: "robot", size: bytes.length };
  const { upload } = await partUploads.create(by, body);
  sent.requestId = upload!.requestId;
}

/** Goes on with an upload, as far as it has come. */
async function goOn(by: Ctx, bytes: Buffer, requestId: string): Promise<void> {
  const { isStored, parts } = await partUploads.get(by, { requestId });
  const part = { number: 1, length: bytes.length, sha256: createHash("sha256").update(bytes).digest("base64") };
  if (!isStored && parts.length === 0) {
    const { grants } = await partUploads.grantParts(by, { requestId, parts: [part] });
    const [{ url, headers }] = grants as [(typeof grants)[number]];
    assert.equal((await fetch(url, { method: "PUT", headers, body: new Uint8Array(bytes) })).status, 200);
  }
  await partUploads.complete(by, { requestId, sha256: sha256(bytes) });
}

async function uploadWhole(bytes: Buffer): Promise<string> {
  const sent: Sent = {};
  await begin(ctx, bytes, sent);
  await goOn(ctx, bytes, sent.requestId!);
  return readRecordingId(sent.requestId!);
}

async function readRecordingId(id: string): Promise<string> {
  await doJobs();
  const { state, recordingId } = await prisma.importRequest.findUniqueOrThrow({ where: { id } });
  assert.equal(state, "complete");
  return recordingId!;
}

const keysOf = async (kind: string) =>
  (await Array.fromAsync(deps.blobs.list(`${orgId}/${kind}_`))).map(({ key }) => key);

const wanted = { topics: ["/imu"], as: "file" as const };

test("a process that dies anywhere while it makes or ends a file for a viewer leaves no object without an owner", async () => {
  const bytes = await newBytes();
  const recordingId = await uploadWhole(bytes);
  const count = readMessages(bytes).filter(({ topic }) => topic === "/imu").length;
  const died = await dieEverywhere(async (dying) => {
    const { id, link } = await admin.call(api.viewLinks.create, { ...wanted, recordingId });
    await dying.run(async () => {
      await prepareView(dying.parts, id, signal);
      await viewLinks.delete(dying.parts, { id });
    });
    await requireOwners(String(dying.diedBefore()));
    await doJobs();
    const view = await prisma.viewLink.findUnique({ where: { id } });
    if (view) {
      assert.equal(view.state, "ready");
      const file = new Uint8Array(await (await fetch(link)).arrayBuffer());
      assert.equal(readMessages(file).length, count);
    }
    await requireOwners(String(dying.diedBefore()));
    await letTimePass(135);
    await letTimePass(8 * DAY_MINUTES);
    assert.deepEqual(await keysOf("view"), [], `the process died before ${dying.diedBefore()}`);
  });
  for (const call of ["the store's put", "the rest of the store's put", "viewLink.updateMany", "COMMIT"])
    assert.ok(died.includes(call), `${call} is not among ${died.join(", ")}`);
});

test("a file that takes longer than its link lasts is removed", async () => {
  const recordingId = await uploadWhole(await newBytes());
  const { id } = await admin.call(api.viewLinks.create, { ...wanted, recordingId, lifeSeconds: 60 });
  const put: BlobStore["put"] = async (...given) => {
    await letQueueWait(20); // the job that would have removed the object finds none
    return deps.blobs.put(...given);
  };
  await prepareView({ ...deps, blobs: { ...deps.blobs, put } }, id, signal);
  await doJobs();
  assert.deepEqual(await keysOf("view"), []);
});

test("a process that dies anywhere while it builds or deletes a training set leaves no object, and the set is built again with the same files", async () => {
  const recordingId = await uploadWhole(await newBytes());
  const { projectId } = await admin.call(api.recordings.get, { keyOrId: recordingId });
  const item = { recordings: [recordingId], metadata: { task: "pick" } };
  const { episodes } = await admin.call(api.episodes.getOrCreate, { projectId, episodes: [item] });
  const dataset = { projectId, name: "picks", episodeIds: episodes.map(({ id }) => id) };
  const { id: datasetId } = await admin.call(api.datasets.create, dataset);
  await admin.call(api.datasetVersions.commit, { id: datasetId });
  const parts = [{ topic: "/imu", field: "angular_velocity" }];
  const mapping = TrainingMapping.parse({ fps: 10, minFrames: 1, features: { state: { dtype: "float32", parts } } });
  const { id: mappingId } = await admin.call(api.datasetMappings.create, { id: datasetId, name: "imu", mapping });
  const manifests = new Set<string | null>();
  const died = await dieEverywhere(async (dying) => {
    const { id } = await admin.call(api.trainingSets.create, { id: datasetId, versionNumber: 1, mappingId });
    await dying.run(async () => {
      await buildTrainingSet(dying.parts, id, signal);
      await trainingSets.delete(dying.parts, { id });
    });
    await doJobs();
    const set = await prisma.trainingSet.findUnique({ where: { id } });
    if (set) {
      assert.equal(set.state, "ready", `${set.failureText}; the process died before ${dying.diedBefore()}`);
      manifests.add(set.manifestSha256);
      await admin.call(api.trainingSets.delete, { id });
    }
    await letTimePass(8 * DAY_MINUTES);
    assert.deepEqual(await keysOf("tf"), [], `the process died before ${dying.diedBefore()}`);
  });
  assert.equal(manifests.size, 1);
  for (const call of ["the store's put", "the rest of the store's put", "trainingFile.createMany", "COMMIT"])
    assert.ok(died.includes(call), `${call} is not among ${died.join(", ")}`);
});

test("an upload in parts can be gone on with wherever the process died, and what is not gone on with ends without a trace", async () => {
  const died = await dieEverywhere(async (dying) => {
    const [bytes, sent] = [await newBytes(), {} as Sent];
    await dying.run(async () => {
      await begin(dying.parts, bytes, sent);
      await goOn(dying.parts, bytes, sent.requestId!);
    });
    await requireOwners(String(dying.diedBefore()));
    await doJobs();
    await reconcile(deps);
    if (sent.requestId === undefined) await uploadWhole(bytes);
    else {
      await goOn(ctx, bytes, sent.requestId);
      await readRecordingId(sent.requestId);
    }
    await requireNoTrace(dying.diedBefore());
  });
  for (const call of ["the store's putNote", "the store's createUpload", "the store's completeUpload", "COMMIT"])
    assert.ok(died.includes(call), `${call} is not among ${died.join(", ")}`);
});

test("an upload in parts that is given up leaves nothing, wherever the process died", async () => {
  await dieEverywhere(async (dying) => {
    const [bytes, sent] = [await newBytes(), {} as Sent];
    await begin(ctx, bytes, sent);
    const requestId = sent.requestId!;
    await dying.run(() => partUploads.delete(dying.parts, { requestId }));
    await requireOwners(String(dying.diedBefore()));
    await requireNoTrace(dying.diedBefore());
    const { state } = await prisma.upload.findFirstOrThrow({ where: { requestId } });
    assert.equal(state, "removed");
  });
});

/** Lets the time pass after which uploads end by themselves. Then only the objects of recordings are left, and their notes. */
async function requireNoTrace(after: string | undefined): Promise<void> {
  await letTimePass((PART_UPLOAD_DAYS + 1) * DAY_MINUTES);
  await letTimePass(DAY_MINUTES);
  await letTimePass(8 * DAY_MINUTES);
  const recordings = await prisma.recording.findMany({ select: { blobKey: true } });
  const keys = recordings.map(({ blobKey }) => blobKey).sort();
  assert.deepEqual((await keysOf("upl")).sort(), keys, `the process died before ${after}`);
  assert.deepEqual([...(await readNoted())].sort(), keys, `the process died before ${after}`);
}
