import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api } from "@downlink/protocol";
import { eventually, makeMcap, slowTest } from "@downlink/recordings/testing";
import { countLockWaits } from "../../testing/lock-waits.ts";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { deliver, recordingItem, startAgent } from "../../testing/test-agent.ts";

const SECOND = 1_000_000_000n;
const cloud = await startCloud({ after });
const { admin } = cloud;
const { prisma, pool } = cloud.deps.db;
const robot = await startAgent(cloud, "robot");
const { projectId } = await admin.call(api.devices.get, { nameOrId: "robot" });
let minute = 0n;

const isNotFound = refusedWith(404);
const get = (id: string) => admin.call(api.episodes.get, { id, include: ["recordings"] });

async function episodeOf(...recordings: string[]): Promise<string> {
  const { episodes } = await admin.call(api.episodes.getOrCreate, { projectId, episodes: [{ recordings }] });
  return episodes[0]!.id;
}

/** Returns what an episode says about its recordings, and whether each list that filters by that has it. */
async function stateOf(id: string) {
  const { hasMissingRecordings, recordings } = await get(id);
  const has = async (hasMissing: boolean) => {
    const { episodes } = await admin.call(api.episodes.list, { hasMissingRecordings: hasMissing });
    return episodes.some((episode) => episode.id === id);
  };
  assert.deepEqual([await has(true), await has(false)], [hasMissingRecordings, !hasMissingRecordings]);
  const states = recordings!.map(
    ({ available, resolvable }) => `${available ? "here" : "not here"}, ${resolvable ? "known" : "gone"}`,
  );
  return [hasMissingRecordings, ...states];
}

/** Reports a file at the edge, and returns what the agent reports of it, and its bytes. */
async function recordAtEdge() {
  minute += 60n;
  const start = (1_760_000_000n + minute) * SECOND;
  const bytes = await makeMcap({ startNs: start, durationSeconds: 1 });
  const item = recordingItem({ start, size: bytes.length });
  await robot.report([item]);
  const { id } = await prisma.recording.findFirstOrThrow({ where: { path: item.path } });
  return { id, item, bytes };
}

const statusOf = async (keyOrId: string) => (await admin.call(api.recordings.get, { keyOrId })).importStatus;

async function importFromEdge({ id, item, bytes }: Awaited<ReturnType<typeof recordAtEdge>>): Promise<void> {
  await admin.call(api.recordings.requestImport, { keyOrId: id });
  await deliver(robot, item, bytes);
  await eventually(
    () => statusOf(id),
    (status) => status === "complete",
  );
}

async function upload(): Promise<string> {
  minute += 60n;
  const bytes = await makeMcap({ startNs: (1_760_000_000n + minute) * SECOND, durationSeconds: 1 });
  const { link, requestId } = await admin.call(api.uploads.create, { filename: "up.mcap", deviceName: "robot" });
  const headers = { "content-type": "application/octet-stream" };
  await fetch(link, { method: "PUT", headers, body: bytes as Uint8Array<ArrayBuffer> });
  const [ended] = await eventually(
    () => admin.call(api.pendingImports.list, { requestId, showCompleted: true }),
    ([found]) => found?.terminal === true,
  );
  assert.equal(ended!.status, "complete");
  return (await prisma.importRequest.findUniqueOrThrow({ where: { id: requestId } })).recordingId!;
}

test("an edge recording's episode misses it until it is imported and after its data is deleted, and not after it is imported again", async () => {
  const recording = await recordAtEdge();
  const id = await episodeOf(recording.id);
  assert.deepEqual(await stateOf(id), [true, "not here, known"]);
  await importFromEdge(recording);
  assert.deepEqual(await stateOf(id), [false, "here, known"]);
  await admin.call(api.recordings.delete, { keyOrId: recording.id });
  assert.deepEqual(await stateOf(id), [true, "not here, known"]);
  await importFromEdge(recording);
  assert.deepEqual(await stateOf(id), [false, "here, known"]);
});

slowTest("an uploaded recording that is deleted is gone: the episode keeps its id, path and span", async () => {
  const [kept, gone] = [await upload(), await upload()];
  const id = await episodeOf(kept, gone);
  assert.deepEqual(await stateOf(id), [false, "here, known", "here, known"]);
  const before = await get(id);
  await admin.call(api.recordings.delete, { keyOrId: gone });
  assert.deepEqual(await stateOf(id), [true, "here, known", "not here, gone"]);
  const after = await get(id);
  const lost = { available: false, resolvable: false };
  assert.deepEqual(after.recordings, [before.recordings![0], { ...before.recordings![1], ...lost }]);
  assert.equal(after.recordings![1]!.path, "up.mcap");
});

test("an edge recording whose file goes away is gone; one that fails or is pending was never available", async () => {
  const [removed, pending] = [await recordAtEdge(), await recordAtEdge()];
  const id = await episodeOf(removed.id, pending.id);
  await admin.call(api.recordings.requestImport, { keyOrId: pending.id });
  assert.deepEqual(await stateOf(id), [true, "not here, known", "not here, known"]);
  await robot.report([], { removals: [removed.item, pending.item].map(({ versionId }) => versionId) });
  assert.equal(await statusOf(pending.id), "failed");
  assert.deepEqual(await stateOf(id), [true, "not here, gone", "not here, known"]);
});

slowTest("an episode of several recordings misses some until the last of them is imported", async () => {
  const recordings = [await recordAtEdge(), await recordAtEdge()];
  const [one, two] = recordings.map((recording) => recording.id) as [string, string];
  const [both, first] = [await episodeOf(one, two), await episodeOf(one)];
  await importFromEdge(recordings[0]!);
  assert.deepEqual(await stateOf(both), [true, "here, known", "not here, known"]);
  assert.deepEqual(await stateOf(first), [false, "here, known"]);
  await importFromEdge(recordings[1]!);
  assert.equal((await stateOf(both))[0], false);
});

test("an episode that is requested while its recording's data is being deleted shows the deletion", async () => {
  const recordingId = await upload();
  const deleting = await pool.connect();
  await deleting.query(`BEGIN; UPDATE "Recording" SET "importStatus" = 'none' WHERE id = '${recordingId}'`);
  const asked = { isAnswered: false };
  const made = episodeOf(recordingId).finally(() => Object.assign(asked, { isAnswered: true }));
  await eventually(
    () => countLockWaits(cloud.deps.db),
    (count) => count > 0 || asked.isAnswered,
  );
  await deleting.query("COMMIT");
  deleting.release();
  assert.deepEqual(await stateOf(await made), [true, "not here, known"]);
});

test("all counts of an episode stay right when many recordings change at once", async () => {
  const template = await prisma.recording.findFirstOrThrow({ where: { importStatus: "complete" } });
  const ids = Array.from({ length: 12 }, (_, i) => `rec_many_${i}`);
  const unique = { importId: null, blobKey: null, indexKey: null, key: null, metadata: [], isEdge: false };
  await prisma.recording.createMany({ data: ids.map((id) => ({ ...template, ...unique, id })) });
  const episodeIds = await Promise.all([episodeOf(...ids), ...ids.map((id, i) => episodeOf(id, ids[(i + 1) % 12]!))]);
  await Promise.all(ids.map((keyOrId) => admin.call(api.recordings.delete, { keyOrId })));
  const rows = await prisma.episodeAvailability.findMany({ where: { episodeId: { in: episodeIds } } });
  assert.deepEqual(
    rows.map(({ missingCount, hasMissing }) => [missingCount, hasMissing]).sort(),
    [[12, true], ...ids.map(() => [2, true])].sort(),
  );
});

test("a deleted episode is gone, its recordings stay, and the same episode may be created again", async () => {
  const recordingId = await upload();
  const id = await episodeOf(recordingId);
  assert.deepEqual(await admin.call(api.episodes.delete, { id }), { success: true });
  await assert.rejects(get(id), isNotFound);
  await assert.rejects(admin.call(api.episodes.delete, { id }), isNotFound);
  assert.equal(await statusOf(recordingId), "complete");
  assert.equal(await prisma.episodeRecording.count({ where: { episodeId: id } }), 0);
  assert.notEqual(await episodeOf(recordingId), id);
});

test("another organization's episode is 404", async () => {
  const id = await episodeOf(await upload());
  const other = await cloud.otherOrganization();
  await assert.rejects(other.call(api.episodes.get, { id }), isNotFound);
  await assert.rejects(other.call(api.episodes.delete, { id }), isNotFound);
  assert.equal((await get(id)).id, id);
});

slowTest(
  "an episode in a version of a dataset, committed or staged, cannot be deleted: 409 names the dataset",
  async () => {
    const [staged, kept] = [await episodeOf(await upload()), await episodeOf(await upload())];
    const { id } = await admin.call(api.datasets.create, { projectId, name: "curated", episodeIds: [kept] });
    await admin.call(api.datasetVersions.commit, { id });
    await admin.call(api.datasets.changeEpisodes, { id, add: [staged], remove: [kept] });
    const isRefused = refusedWith(409, `"curated" (${id})`);
    for (const episode of [staged, kept])
      await assert.rejects(admin.call(api.episodes.delete, { id: episode }), isRefused);
    await admin.call(api.datasetVersions.discard, { id });
    await admin.call(api.episodes.delete, { id: staged });
    await admin.call(api.datasets.delete, { id });
    await admin.call(api.episodes.delete, { id: kept });
  },
);
