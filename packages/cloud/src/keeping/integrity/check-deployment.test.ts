import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, test } from "node:test";
import { api } from "@downlink/protocol";
import { eventually, makeMcap, slowTest } from "@downlink/recordings/testing";
import type { JobQueue } from "../../background/jobs/queue.ts";
import { newId } from "../../db/ids.ts";
import { noDamage } from "../../import-life/import-status.ts";
import { cutPiece, inPieces } from "../../store/blobs/testing/pieces.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { overwriteObject } from "../../testing/stored-objects.ts";
import { sha256 } from "../../testing/test-agent.ts";
import { uploadFile } from "../../testing/upload-file.ts";
import { manifestKey } from "../manifests/manifest.ts";
import { checkDeployment } from "./check-deployment.ts";
import type { Finding } from "./finding.ts";
import { printCheck } from "./print-check.ts";

const cloud = await startCloud({ after });
const { admin, deps } = cloud;
const { prisma } = deps.db;
const { orgId, id: projectId } = await prisma.project.findFirstOrThrow();
const DAY_MS = 86_400_000;

/** Nothing that is marked as damaged is read again, because the faults are undone at once. */
const jobs: JobQueue = {
  enqueue: async (tx, job) => {
    if (job.name !== "read-stored") await deps.jobs.enqueue(tx, job);
  },
  enqueueAll: deps.jobs.enqueueAll,
  enqueueIndexing: deps.jobs.enqueueIndexing,
  enqueueReading: async () => {},
  enqueueThumbnails: async () => {},
  enqueueRemovals: async () => {},
};
const check = (options: Partial<Parameters<typeof checkDeployment>[1]> = {}) =>
  Array.fromAsync(
    checkDeployment({ ...deps, jobs }, { readPercent: 100, isRepairing: false, nowMs: Date.now(), ...options }),
  );
const inAMonth = { nowMs: Date.now() + 30 * DAY_MS };
const byKind = (findings: readonly Finding[]) => findings.map(({ kind, subject }) => `${kind}: ${subject}`);

/** Uploads and imports a recording with an attachment. */
async function upload(seed: number): Promise<string> {
  const attachments = [{ name: "calibration", mediaType: "text/plain", data: Buffer.from(`of ${seed}`) }];
  const bytes = await makeMcap({ seed, startNs: BigInt(seed) * 10n ** 12n, attachments });
  const ended = await uploadFile(cloud, bytes, { filename: `${seed}.mcap`, deviceName: "robot" });
  assert.equal(ended.errorCode, null);
  return ended.recordingId!;
}

/** Publishes an extension whose package is stored. */
async function publish(name: string): Promise<{ id: string; blobKey: string }> {
  const bytes = Buffer.from(`the package of ${name}`);
  const [extensionId, id, stamp] = [newId("ext"), newId("extv"), 1n];
  const blobKey = `${orgId}/${id}`;
  await deps.blobs.put(blobKey, inPieces(bytes));
  const names = { publisher: "p", name, identity: `p.${name}`, displayName: name };
  const stamps = { createdAtNs: stamp, updatedAtNs: stamp };
  await prisma.extension.create({ data: { id: extensionId, orgId, ...names, ...stamps } });
  const stored = { version: "1.0.0", sha256: sha256(bytes), sizeBytes: BigInt(bytes.length), blobKey };
  await prisma.extensionVersion.create({ data: { id, extensionId, ...stored, createdAtNs: stamp } });
  return { id, blobKey };
}

/** Makes a dataset with a committed version of one episode, and another one staged in its place. */
async function makeDataset(recordingIds: readonly string[]) {
  const items = recordingIds.map((id) => ({ recordings: [id] }));
  const made = await admin.call(api.episodes.getOrCreate, { projectId, episodes: items });
  const [first, second] = made.episodes.map(({ id }) => id) as [string, string];
  const { id } = await admin.call(api.datasets.create, { projectId, name: randomUUID(), episodeIds: [first] });
  await admin.call(api.datasetVersions.commit, { id });
  await admin.call(api.datasets.changeEpisodes, { id, add: [second], remove: [first] });
  return { datasetId: id, episodeId: first };
}

const row = async (id: string) => {
  const { blobKey, indexKey, importId, ...rest } = await prisma.recording.findUniqueOrThrow({ where: { id } });
  return { ...rest, blobKey: blobKey!, indexKey: indexKey!, importId: importId! };
};
const [recording, other, spare] = [await row(await upload(1)), await row(await upload(2)), await row(await upload(3))];
await uploadFile(cloud, Buffer.from("no recording"), { filename: "x.mcap", deviceName: "robot" });
const refused = await prisma.importRequest.findFirstOrThrow({ where: { blobKey: { not: null } } });
const extension = await publish("one");
const { datasetId, episodeId } = await makeDataset([recording.id, other.id]);
const { id: foreignOrgId } = await (async () => {
  await cloud.otherOrganization();
  return prisma.organization.findFirstOrThrow({ where: { id: { not: orgId } } });
})();

test("nothing is found in a healthy deployment, now and when all of it is old", async () => {
  assert.deepEqual(await check(), []);
  assert.deepEqual(await check(inAMonth), []);
});

/** A fault to plant: the check must find it and nothing else. That nothing is found once it is undone shows in the next test. */
interface Planted {
  readonly finds: readonly string[];
  readonly takeBack: () => Promise<unknown>;
}

interface Fault {
  readonly name: string;
  plant(): Promise<Planted>;
}

/** So many times the whole deployment is checked for all faults. */
const CHECKS = 10;
const faults: Fault[] = [];

function planted(name: string, plant: () => Promise<Planted>): void {
  faults.push({ name, plant });
}

/** A fault of something that is reported only when it is old. */
function plantedLongAgo(name: string, plant: () => Promise<Planted>): void {
  test(`${name} is found`, () => findAll([{ name, plant }], inAMonth));
}

async function findAll(together: readonly Fault[], options: Parameters<typeof check>[0] = {}): Promise<void> {
  const done: Planted[] = [];
  for (const { plant } of together) done.push(await plant());
  const found = byKind(await check(options));
  for (const { takeBack } of done.toReversed()) await takeBack();
  await prisma.recording.updateMany({ data: noDamage });
  assert.deepEqual(found.sort(), done.flatMap(({ finds }) => finds).sort());
}

/** Replaces the bytes of an object, or removes it. Returns a function that restores it. */
async function damage(key: string, change: (bytes: Buffer) => Buffer | undefined): Promise<() => Promise<void>> {
  await using reader = await deps.blobs.open(key);
  const bytes = Buffer.from(await reader.read(0, reader.sizeBytes));
  const changed = change(Buffer.from(bytes));
  if (changed) await overwriteObject(cloud.dataDir, key, changed);
  else await deps.blobs.delete(key);
  return () => overwriteObject(cloud.dataDir, key, bytes);
}

function flipBit(bytes: Buffer): Buffer {
  bytes[9]! ^= 1;
  return bytes;
}

for (const [what, key, needsRead] of [
  ["recording", recording.blobKey, true],
  ["extension version", extension.blobKey, true],
  ["import request", refused.blobKey!, false],
  ["recording's index", recording.indexKey, false],
] as const) {
  planted(`a missing object of a ${what}`, async () => ({
    finds: [`missing object: ${key}`],
    takeBack: await damage(key, () => undefined),
  }));
  if (what !== "recording's index")
    planted(`a short object of a ${what}`, async () => ({
      finds: [`wrong size: ${key}`],
      takeBack: await damage(key, (bytes) => bytes.subarray(0, 5)),
    }));
  if (needsRead)
    planted(`an altered object of a ${what}`, async () => ({
      finds: [`altered object: ${key}`],
      takeBack: await damage(key, flipBit),
    }));
}

planted("a longer object", async () => ({
  finds: [`wrong size: ${other.blobKey}`],
  takeBack: await damage(other.blobKey, (bytes) => Buffer.concat([bytes, bytes])),
}));

test("a changed object is not found without reading the data", async () => {
  const takeBack = await damage(recording.blobKey, flipBit);
  assert.deepEqual(await check({ readPercent: 0 }), []);
  await takeBack();
});

/** Stores an object, or an unfinished one, whose upload is in this state. */
async function leave(state: "open" | "removed" | undefined, isWhole = true): Promise<string> {
  const id = newId("upl");
  const key = `${orgId}/${id}`;
  if (isWhole) await deps.blobs.put(key, inPieces(Buffer.alloc(1000)));
  else {
    await deps.blobs.createUpload(key, { sizeBytes: 1000, partSizeBytes: 1000 });
    const piece = cutPiece(1, 0, Buffer.alloc(1000));
    await deps.blobs.receivePiece!(key, piece.plan, inPieces(piece.bytes));
  }
  const times = { createdAtNs: 1n, updatedAtNs: BigInt(Date.now()) * 1_000_000n };
  const upload = { id, orgId, requestId: refused.id, kind: "parts", blobKey: key, ...times } as const;
  if (state) await prisma.upload.create({ data: { ...upload, state } });
  return key;
}

for (const [name, kind, isWhole, state] of [
  ["an object that no row names", "object without row", true, undefined],
  ["an unfinished write that no row names", "unfinished write", false, undefined],
  ["an object whose upload was given up", "leftover", true, "removed"],
] as const)
  plantedLongAgo(name, async () => {
    const key = await leave(state, isWhole);
    return { finds: [`${kind}: ${key}`], takeBack: () => forget(key) };
  });

test("an object that no row names is reported after a week, and one that may still be delivered is never reported", async () => {
  const [young, underWay] = [await leave(undefined), await leave("open", false)];
  assert.deepEqual(await check({ nowMs: Date.now() + 6 * DAY_MS }), []);
  assert.deepEqual(byKind(await check(inAMonth)), [`object without row: ${young}`]);
  for (const key of [young, underWay]) await forget(key);
});

async function forget(key: string): Promise<void> {
  await deps.blobs.delete(key);
  await prisma.upload.deleteMany({ where: { blobKey: key } });
}

const run = (sql: string) => prisma.$executeRawUnsafe(sql);
/** Plants a fault by one statement, and undoes it by another one. */
const change = (name: string, { finds, by, back }: { finds: readonly string[]; by: string; back: string }) =>
  planted(name, async () => {
    await run(by);
    return { finds, takeBack: () => run(back) };
  });
const ofRecording = (change: string, { id } = recording) => `UPDATE "Recording" SET ${change} WHERE id = '${id}'`;

change("a complete recording without its hash", {
  finds: [`wrong state: ${recording.id}`],
  by: ofRecording(`"contentSha256" = NULL`),
  back: ofRecording(`"contentSha256" = '${recording.contentSha256}'`),
});
change("a recording that is not complete and holds data", {
  finds: ["wrong state", "wrong copy", "wrong copy"].map((kind) => `${kind}: ${spare.id}`),
  by: ofRecording(`"importStatus" = 'failed'`, spare),
  back: ofRecording(`"importStatus" = 'complete'`, spare),
});
change("an object that two rows hold", {
  finds: [`held twice: ${recording.indexKey}`],
  by: `UPDATE "ImportRequest" SET "blobKey" = '${recording.indexKey}', "sizeBytes" = NULL WHERE id = '${refused.id}'`,
  back: `UPDATE "ImportRequest" SET "blobKey" = '${refused.blobKey}', "sizeBytes" = ${refused.sizeBytes} WHERE id = '${refused.id}'`,
});
change("an object of another organization", {
  finds: [`wrong organization: ${refused.blobKey}`, `wrong organization: ${await uploadOf(refused.id)}`],
  by: `UPDATE "ImportRequest" SET "orgId" = '${foreignOrgId}' WHERE id = '${refused.id}'`,
  back: `UPDATE "ImportRequest" SET "orgId" = '${orgId}' WHERE id = '${refused.id}'`,
});
change("recordings of a device of another organization", {
  finds: [recording.id, other.id, spare.id].sort().map((id) => `wrong organization: ${id}`),
  by: `UPDATE "Device" SET "orgId" = '${foreignOrgId}'`,
  back: `UPDATE "Device" SET "orgId" = '${orgId}'`,
});
change("a wrong duration", {
  finds: [`wrong counter: ${recording.id}`],
  by: ofRecording(`"durationNs" = 5`),
  back: ofRecording(`"durationNs" = "endNs" - "startNs"`),
});
for (const column of ["episodeCount", "addedEpisodeCount", "removedEpisodeCount"])
  change(`a version with a wrong ${column}`, {
    finds: [`wrong counter: ${datasetId}/2`],
    by: `UPDATE "DatasetVersion" SET "${column}" = "${column}" + 1 WHERE "versionNumber" = 2`,
    back: `UPDATE "DatasetVersion" SET "${column}" = "${column}" - 1 WHERE "versionNumber" = 2`,
  });
change("a dataset with a wrong number of episodes", {
  finds: [`wrong counter: ${datasetId}`],
  by: `UPDATE "Dataset" SET "episodeCount" = "episodeCount" + 1`,
  back: `UPDATE "Dataset" SET "episodeCount" = "episodeCount" - 1`,
});
change("an episode with a wrong number of missing recordings", {
  finds: [`wrong counter: ${episodeId}`],
  by: `UPDATE "EpisodeAvailability" SET "missingCount" = 1, "hasMissing" = true WHERE "episodeId" = '${episodeId}'`,
  back: `UPDATE "EpisodeAvailability" SET "missingCount" = 0, "hasMissing" = false WHERE "episodeId" = '${episodeId}'`,
});
change("topics that are listed at another time than their recording", {
  finds: [`wrong copy: ${recording.id}`],
  by: `UPDATE "RecordingTopic" SET "importedStartNs" = 5 WHERE "recordingId" = '${recording.id}'`,
  back: `UPDATE "RecordingTopic" SET "importedStartNs" = ${recording.startNs} WHERE "recordingId" = '${recording.id}'`,
});
change("attachments of no site", {
  finds: [`wrong copy: ${recording.id}`],
  by: `UPDATE "RecordingAttachment" SET "siteId" = NULL WHERE "recordingId" = '${recording.id}'`,
  back: `UPDATE "RecordingAttachment" SET "siteId" = '${recording.siteId}' WHERE "recordingId" = '${recording.id}'`,
});
change("an import that is deleted while its recording names it", {
  finds: [`missing row: ${recording.id}`],
  by: `UPDATE "Import" SET "deletedAtNs" = 5 WHERE id = '${recording.importId}'`,
  back: `UPDATE "Import" SET "deletedAtNs" = NULL WHERE id = '${recording.importId}'`,
});
change("a schema without its text", {
  finds: [recording.id, other.id, spare.id].sort().map((id) => `missing row: ${id}`),
  by: `UPDATE "SchemaText" SET sha256 = 'x' || sha256`,
  back: `UPDATE "SchemaText" SET sha256 = substr(sha256, 2)`,
});
change("a stored upload whose request still awaits it", {
  finds: [`wrong state: ${await uploadOf(refused.id)}`],
  by: `UPDATE "ImportRequest" SET state = 'awaiting', "blobKey" = NULL WHERE id = '${refused.id}'`,
  back: `UPDATE "ImportRequest" SET state = 'error', "blobKey" = '${refused.blobKey}' WHERE id = '${refused.id}'`,
});

const manifest = manifestKey(recording.blobKey, "import");
/** Plants a fault by replacing or removing a note, and undoes it. */
const replaceNote = (name: string, { by, finds }: { by: (text: string) => string | undefined; finds: string }) =>
  planted(name, async () => {
    const bytes = (await deps.blobs.getNote(manifest))!;
    const put = async (text: Uint8Array | string | undefined) => {
      await deps.blobs.removeNote(manifest);
      if (text !== undefined) await deps.blobs.putNote(manifest, Buffer.from(text));
    };
    await put(by(String(bytes)));
    return { finds: [`${finds}: ${manifest}`], takeBack: () => put(bytes) };
  });
replaceNote("a missing manifest of an import", { by: () => undefined, finds: "missing manifest" });
replaceNote("a manifest of another organization", {
  by: (text) => text.replaceAll(orgId, foreignOrgId),
  finds: "wrong manifest",
});
replaceNote("a manifest that is none", { by: () => "{", finds: "wrong manifest" });
replaceNote("a manifest of another recording", {
  by: (text) => text.replaceAll(recording.id, other.id),
  finds: "wrong manifest",
});

/** Plants a note that the control plane never wrote. */
const strayNote =
  ({ kind, key }: { kind: string; key: string }) =>
  async () => {
    await deps.blobs.putNote(key, Buffer.from("{}"));
    return { finds: [`${kind}: ${key}`], takeBack: () => deps.blobs.removeNote(key) };
  };
const uploadId = recording.blobKey.split("/")[1]!;
planted(
  "a manifest below another organization",
  strayNote({ kind: "wrong organization", key: `manifests/${foreignOrgId}/${uploadId}/begun` }),
);
plantedLongAgo(
  "a manifest of nothing",
  strayNote({ kind: "leftover", key: `manifests/${orgId}/${newId("upl")}/begun` }),
);
planted(
  "a note that is no manifest",
  strayNote({ kind: "wrong manifest", key: `manifests/${recording.blobKey}/other` }),
);

/** Neighbours in the list touch the same things, so that they are planted at different times. */
for (const [number, together] of Map.groupBy(faults.entries(), ([index]) => index % CHECKS))
  test(`in check ${number + 1} of the planted faults these are found, and nothing else: ${together.map(([, { name }]) => name).join(", ")}`, () =>
    findAll(together.map(([, fault]) => fault)));

test("nothing is found once all of that is undone, now and when it is old", async () => {
  assert.deepEqual(await check(), []);
  assert.deepEqual(await check(inAMonth), []);
});

async function uploadOf(requestId: string): Promise<string> {
  return (await prisma.upload.findFirstOrThrow({ where: { requestId } })).id;
}

test("--repair repairs what can be repaired: counters, copies and indexes", async () => {
  await run(`UPDATE "DatasetVersion" SET "episodeCount" = 7`);
  await run(`UPDATE "Dataset" SET "episodeCount" = 8`);
  await run(`UPDATE "EpisodeAvailability" SET "missingCount" = 9`);
  await run(`UPDATE "RecordingTopic" SET "importedDeviceId" = NULL`);
  await run(`UPDATE "RecordingAttachment" SET "projectId" = NULL`);
  await run(ofRecording(`"durationNs" = 5`));
  await deps.blobs.delete(recording.indexKey);
  const findings = await check({ isRepairing: true });
  assert.deepEqual(
    findings.filter(({ isRepaired }) => !isRepaired),
    [],
  );
  assert.ok(findings.length > 10);
  const isIndexed = async () => (await row(recording.id)).indexKey;
  await eventually(isIndexed, (key) => key !== null && key !== recording.indexKey);
  assert.deepEqual(await check(), []);
});

test("--repair writes missing manifests, also of a recording that has no index at the moment", async () => {
  const missing = [other, spare].map(({ blobKey }) => manifestKey(blobKey, "import"));
  for (const key of missing) await deps.blobs.removeNote(key);
  await run(`UPDATE "Recording" SET "indexKey" = NULL WHERE id = '${spare.id}'`);
  const toLine = ({ kind, subject, isRepaired }: Finding) => `${kind}: ${subject} ${isRepaired}`;
  assert.deepEqual((await check()).map(toLine).sort(), missing.map((key) => `missing manifest: ${key} false`).sort());
  const repaired = await check({ isRepairing: true });
  assert.deepEqual(repaired.map(toLine).sort(), missing.map((key) => `missing manifest: ${key} true`).sort());
  await run(`UPDATE "Recording" SET "indexKey" = '${spare.indexKey}' WHERE id = '${spare.id}'`);
  assert.deepEqual(await check(), []);
});

slowTest("nothing is found while imports, deletions and edits of datasets go on", async () => {
  const wantedChecks = 3;
  let checks = 0;
  const workUntilChecked = async (worker: number) => {
    for (let seed = 100 + worker; checks < wantedChecks; seed += 8) {
      const id = await upload(seed);
      const dataset = await makeDataset([id, recording.id]);
      if (worker % 2 === 0) await admin.call(api.recordings.delete, { keyOrId: id, force: true });
      await admin.call(api.datasetVersions.commit, { id: dataset.datasetId });
    }
  };
  const load = Array.from({ length: 8 }, (_, worker) => workUntilChecked(worker));
  const working = { is: true };
  const done = Promise.all(load).finally(() => (working.is = false));
  for (; working.is; checks += 1) assert.deepEqual(await check(), []);
  await done;
  assert.deepEqual(await check(inAMonth), []);
});

test("if the store is not mounted or does not answer, that is no finding, because the check could not look", async () => {
  const print = async (over: object) => {
    let text = "";
    const write = (line: string) => (text += line);
    const options = { readPercent: 0, isRepairing: false, nowMs: Date.now() };
    const found = checkDeployment({ ...deps, blobs: { ...deps.blobs, ...over } }, options);
    return { code: await printCheck(found, { isJson: false, write, countElsewhere: async () => 0 }), text };
  };
  assert.deepEqual(await print({}), { code: 0, text: "the database and the object store agree\n" });
  const away = await print({ check: async () => "the object store is not there: is its disk mounted?" });
  assert.deepEqual(away, { code: 2, text: "could not look: the object store is not there: is its disk mounted?\n" });
  const refused = { stat: () => Promise.reject(new Error("503")), list: async function* () {} };
  assert.deepEqual(await print(refused), { code: 2, text: "could not look: 503\n" });
});

test("each finding is printed on one line, in words or as JSON, and the exit code says whether there are any", async () => {
  const found = async function* () {
    yield { kind: "wrong copy", subject: "rec_1", text: "topics differ", isRepaired: true } as const;
    yield { kind: "missing object", subject: "org/upl", text: "it is not in the store" } as const;
  };
  let text = "";
  const write = (line: string) => (text += line);
  const countElsewhere = async () => 3;
  assert.equal(await printCheck(found(), { isJson: false, write, countElsewhere }), 1);
  assert.match(
    text,
    /^wrong copy +rec_1 {2}topics differ \(repaired\)\nmissing object +org\/upl {2}it is not in the store\n2 findings, 1 repaired\n3 recordings lie in customers' buckets, at which this does not look: .*\n$/,
  );
  text = "";
  assert.equal(await printCheck(found(), { isJson: true, write, countElsewhere }), 1);
  assert.equal(JSON.parse(text.split("\n")[1]!).subject, "org/upl");
});

test("a mismatch that is gone when it is checked again is no finding", async () => {
  const blobs = { ...deps.blobs, list: async function* () {} };
  const found = checkDeployment({ ...deps, blobs }, { readPercent: 0, isRepairing: false, nowMs: Date.now() });
  assert.deepEqual(await Array.fromAsync(found), [], "the listing lacks all objects, the store has them");
});
