import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api } from "@downlink/protocol";
import { makeMcap } from "@downlink/recordings/testing";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { uploadFile } from "../../testing/upload-file.ts";

const SECOND = 1_000_000_000n;
const cloud = await startCloud({ after });
const { admin } = cloud;
let uploads = 0;

/** Uploads a recording, and makes a dataset of which it is a part. */
async function makeMember(name: string) {
  const startNs = 1_760_000_000n * SECOND + BigInt(++uploads) * 100n * SECOND;
  const bytes = await makeMcap({ startNs, durationSeconds: 2, seed: uploads });
  const { recordingId: id } = await uploadFile(cloud, bytes, { filename: `${uploads}.mcap`, deviceName: "robot" });
  const recordingId = id!;
  const { projectId, importId } = await cloud.deps.db.prisma.recording.findUniqueOrThrow({
    where: { id: recordingId },
  });
  const item = { recordings: [recordingId], startTime: startNs, endTime: startNs + SECOND };
  const { episodes } = await admin.call(api.episodes.getOrCreate, { projectId, episodes: [item] });
  const dataset = await admin.call(api.datasets.create, { projectId, name });
  await admin.call(api.datasets.changeEpisodes, { id: dataset.id, add: [episodes[0]!.id] });
  return { recordingId, importId: importId!, datasetId: dataset.id, episodeId: episodes[0]!.id };
}

test("the last copy of data in a committed dataset version is deleted only by force", async () => {
  const { recordingId: keyOrId, datasetId: id, episodeId } = await makeMember("driving");
  await admin.call(api.datasetVersions.commit, { id });
  await admin.call(api.datasets.changeEpisodes, { id, remove: [episodeId] });
  await admin.call(api.datasetVersions.commit, { id });
  await assert.rejects(
    admin.call(api.recordings.delete, { keyOrId }),
    refusedWith("InDataset", /last copy, and committed dataset versions hold it: "driving" version 1; force=true/),
  );
  assert.equal((await admin.call(api.recordings.get, { keyOrId })).importStatus, "complete");
  const deleted = await admin.call(api.recordings.delete, { keyOrId, force: true });
  assert.deepEqual(deleted, { recordingId: keyOrId, hasEdgeCopy: false });
});

test("a version that is not committed holds nothing back", async () => {
  const { recordingId: keyOrId } = await makeMember("staged");
  await admin.call(api.recordings.delete, { keyOrId });
});

test("the deprecated deletion of imports asks in the same way", async () => {
  const { importId, datasetId: id } = await makeMember("old way");
  await admin.call(api.datasetVersions.commit, { id });
  await assert.rejects(admin.call(api.imports.delete, { importId }), refusedWith("InDataset", /"old way" version 1/));
  await assert.rejects(
    admin.call(api.imports.deleteMany, { id: [importId] }),
    refusedWith("InDataset", /"old way" version 1/),
  );
  const { deletionResults } = await admin.call(api.imports.deleteMany, { id: [importId], force: true });
  assert.deepEqual(deletionResults, [{ importId, result: "success" }]);
});
