import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, test } from "node:test";
import { api } from "@downlink/protocol";
import { eventually, slowTest } from "@downlink/recordings/testing";
import { reconcile } from "../../imports/ingest/reconcile.ts";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { askForFile, deliver, sha256 } from "../../testing/test-agent.ts";

const cloud = await startCloud({ after });
const { admin } = cloud;
const recordingsOf = (deviceId: string) => admin.call(api.recordings.list, { deviceId });

slowTest(
  "a delivered file that is no recording fails with its reason; the agent hears of it until it acknowledges",
  async () => {
    const { agent, item, requestId } = await askForFile(cloud, "deliverer");
    await deliver(agent, item, randomBytes(item.size));
    await eventually(
      () => recordingsOf(agent.deviceId),
      ([found]) => found!.importStatus === "failed",
    );

    const [pending] = await admin.call(api.pendingImports.list, { requestId, showQuarantined: true });
    assert.deepEqual([pending!.status, pending!.terminal, pending!.attempts], ["error", true, 1]);
    assert.ok(pending!.error && pending!.quarantinedAt);
    const { work } = await agent.call(api.edge.work, {});
    assert.equal(work.imports[0]!.stage, "failed");
    await agent.report([], { acknowledgements: [requestId] });
    assert.deepEqual((await agent.call(api.edge.work, {})).work.imports, []);
  },
);

slowTest(
  "stored bytes that differ from the announced hash are requested again, and given up after three times",
  async () => {
    const { agent, item, version } = await askForFile(cloud, "mismatcher");
    const bytes = randomBytes(item.size);
    for (const expected of ["pending", "pending", "failed"]) {
      const { requestId } = (await agent.call(api.edge.work, {})).work.imports[0]!;
      const upload = await agent.call(api.edge.openUpload, { ...version, requestId });
      await agent.sendParts({ requestId, ...upload }, bytes);
      const completion = { requestId, uploadId: upload.uploadId, parts: [], sha256: sha256("other") };
      await agent.call(api.edge.completeUpload, completion);
      await eventually(
        () => recordingsOf(agent.deviceId),
        ([found]) => found!.importStatus === expected,
      );
    }
  },
);

test("an upload resumes with the parts that are durable, and completing twice is harmless", async () => {
  const { agent, item, requestId, version } = await askForFile(cloud, "resumer");
  const bytes = randomBytes(item.size);
  const first = await agent.call(api.edge.openUpload, version);
  await assert.rejects(
    agent.call(api.edge.completeUpload, { requestId, uploadId: first.uploadId, parts: [], sha256: sha256(bytes) }),
    refusedWith("PartsMissing"),
  );
  await agent.sendParts({ requestId, ...first }, bytes);
  const second = await agent.call(api.edge.openUpload, version);
  assert.deepEqual(
    [second.uploadId, second.parts.map(({ number, length }) => [number, length])],
    [first.uploadId, [[1, 1000]]],
  );
  const complete = () =>
    agent.call(api.edge.completeUpload, { requestId, uploadId: first.uploadId, parts: [], sha256: sha256(bytes) });
  assert.deepEqual(await complete(), await complete());
});

test("completing is success if the reconciler has found the whole object first", async (context) => {
  const { agent, item, requestId, version } = await askForFile(cloud, "overtaken");
  const bytes = randomBytes(item.size);
  const { uploadId, ...upload } = await agent.call(api.edge.openUpload, version);
  await agent.sendParts({ requestId, uploadId, ...upload }, bytes);
  const { blobs } = cloud.deps;
  const complete = blobs.completeUpload.bind(blobs);
  context.mock.method(blobs, "completeUpload", async (...given: Parameters<typeof complete>) => {
    const completed = await complete(...given);
    await reconcile(cloud.deps);
    return completed;
  });
  const completion = { requestId, uploadId, parts: [], sha256: sha256(bytes) };
  assert.equal(typeof (await agent.call(api.edge.completeUpload, completion)).recordingId, "string");
  const jobs = await cloud.deps.db.prisma.importRequest.findUniqueOrThrow({ where: { id: requestId } });
  assert.notEqual(jobs.state, "awaiting");
});

test("a file that was only touched is the same version: its upload goes on with the parts that are durable", async () => {
  const { agent, item, requestId, version } = await askForFile(cloud, "toucher");
  const first = await agent.call(api.edge.openUpload, version);
  await agent.sendParts({ requestId, ...first }, randomBytes(item.size));
  const touched = { ...item, modifiedAt: item.modifiedAt + 1n };
  const open = () => agent.call(api.edge.openUpload, { ...version, modifiedAt: touched.modifiedAt });
  const before = await open();
  await agent.report([touched]);
  for (const opened of [before, await open()])
    assert.deepEqual([opened.uploadId, opened.parts.map(({ number }) => number)], [first.uploadId, [1]]);
});

test("another version never continues an upload: it gets a new one", async () => {
  const { agent, item, version } = await askForFile(cloud, "changer");
  const first = await agent.call(api.edge.openUpload, version);
  const other = await agent.call(api.edge.openUpload, { ...version, size: item.size + 1 });
  assert.notEqual(other.uploadId, first.uploadId);
  await assert.rejects(
    agent.call(api.edge.openUpload, { ...version, versionId: "another-version-id" }),
    refusedWith("VersionSuperseded"),
  );
});

test("a file that cannot be delivered ends its request with the reason, and may be requested again", async () => {
  const { agent, item, recordingId, requestId } = await askForFile(cloud, "failer");
  const failure = { requestId, versionId: item.versionId, code: "FileUnreadable", text: "permission denied" } as const;
  await agent.call(api.edge.failImport, failure);
  assert.equal((await recordingsOf(agent.deviceId))[0]!.importStatus, "failed");
  assert.equal((await admin.call(api.recordings.requestImport, { keyOrId: recordingId })).importStatus, "pending");
  const { work } = await agent.call(api.edge.work, {});
  assert.deepEqual(
    work.imports.map(({ stage }) => stage),
    ["deliver"],
  );
});

test("a file that its agent has just declared gone cannot be requested again: 404 at once", async () => {
  const { agent, item, recordingId, requestId } = await askForFile(cloud, "loser");
  const { versionId } = item;
  await agent.call(api.edge.failImport, { requestId, versionId, code: "FileGone", text: "The file is gone." });
  await assert.rejects(admin.call(api.recordings.requestImport, { keyOrId: recordingId }), refusedWith("NotFound"));
  await agent.report([], { removals: [versionId] });
  await assert.rejects(admin.call(api.recordings.requestImport, { keyOrId: recordingId }), refusedWith("NotFound"));
});

test("other bytes under a part that is stored already are never mixed in: the upload is given up for a new one", async () => {
  const { agent, requestId, version } = await askForFile(cloud, "rewriter");
  const first = await agent.call(api.edge.openUpload, version);
  await agent.sendParts({ requestId, ...first }, randomBytes(1000));
  await assert.rejects(agent.sendParts({ requestId, ...first }, randomBytes(1000)), refusedWith("UploadClosed"));
  const second = await agent.call(api.edge.openUpload, version);
  assert.notEqual(second.uploadId, first.uploadId);
  assert.deepEqual(second.parts, []);
});
