import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, type Recording } from "@downlink/protocol";
import { eventually, makeMcap, slowTest } from "@downlink/recordings/testing";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { deliver, recordingItem, sha256, startAgent, type TestAgent } from "../../testing/test-agent.ts";
import { endOfImport, putFile, untilRecording, untilRequest, uploadFile } from "../../testing/upload-file.ts";
import { ingest } from "../ingest/pipeline.ts";

const SECOND = 1_000_000_000n;
const cloud = await startCloud({ after });
const { admin, deps } = cloud;
const { prisma } = deps.db;
let minute = 0n;

/** Makes a recording that no other test has. */
function anotherMcap() {
  minute += 60n;
  return makeMcap({ startNs: (1_760_000_000n + minute) * SECOND, durationSeconds: 1 });
}

const retry = (requestId: string, client = admin) => client.call(api.pendingImports.retry, { requestId });
const requestOf = (id: string) => prisma.importRequest.findUniqueOrThrow({ where: { id } });

/** Reports a file at the edge and requests its import. */
async function requestFromEdge(agent: TestAgent, bytes: Uint8Array, key?: string) {
  const item = recordingItem({ size: bytes.length, key });
  await agent.report([item]);
  const [{ id }] = (await admin.call(api.recordings.list, { path: item.path })) as [Recording];
  await admin.call(api.recordings.requestImport, { keyOrId: id });
  return { item, recordingId: id };
}

const wantedOf = async (agent: TestAgent) => (await agent.call(api.edge.work, {})).work.imports[0]!;

async function endOfRecording(id: string): Promise<Recording> {
  await untilRecording(cloud, id, ["complete", "failed"]);
  return admin.call(api.recordings.get, { keyOrId: id });
}

test("once somebody did what the reason says, a retry imports the kept object and clears the quarantine; attempts go on counting", async () => {
  const body = { filename: "r.mcap", deviceName: "retried", key: "wanted" };
  const first = await uploadFile(cloud, await anotherMcap(), body);
  const failed = await uploadFile(cloud, await anotherMcap(), body);
  assert.deepEqual([failed.errorCode, failed.attempts], ["KeyTaken", 1]);
  await admin.call(api.recordings.delete, { keyOrId: first.recordingId! });
  const retried = await retry(failed.requestId);
  assert.deepEqual([retried.requestId, retried.status, retried.terminal], [failed.requestId, "received", false]);
  assert.deepEqual([retried.error, retried.quarantinedAt], [undefined, undefined]);
  const ended = await endOfImport(cloud, failed.requestId);
  assert.deepEqual([ended.status, ended.attempts, ended.error], ["complete", 2, undefined]);
  assert.equal((await admin.call(api.recordings.get, { keyOrId: "wanted" })).id, ended.recordingId);
  assert.deepEqual(await admin.call(api.pendingImports.errors, {}), []);
});

test("a retry for a missing device finds the device once it exists; until then it fails with the same reason again", async () => {
  const deviceId = "dev_restored";
  const bytes = await makeMcap({ durationSeconds: 1, metadata: [{ name: "downlink", metadata: { deviceId } }] });
  const failed = await uploadFile(cloud, bytes, { filename: "d.mcap", key: "of-a-missing-device" });
  await retry(failed.requestId);
  const again = await endOfImport(cloud, failed.requestId);
  assert.deepEqual([again.error, again.attempts], [`Device not found: ${deviceId}`, 2]);
  assert.ok(again.quarantinedAt);
  const { orgId, projectId } = await requestOf(failed.requestId);
  const times = { createdAtNs: 1n, updatedAtNs: 1n };
  await prisma.device.create({ data: { id: deviceId, orgId, projectId: projectId!, name: "restored", ...times } });
  await retry(failed.requestId);
  assert.equal((await endOfImport(cloud, failed.requestId)).deviceName, "restored");
});

test("a retry of a running or complete import answers 200 and changes nothing", async () => {
  const waiting = await admin.call(api.uploads.create, { filename: "w.mcap", key: "w" });
  const done = await uploadFile(cloud, await anotherMcap(), { filename: "w.mcap", key: "done" });
  const rows = { [waiting.requestId]: undefined, [done.requestId]: "complete" } as const;
  for (const [requestId, status] of Object.entries(rows)) {
    const before = await requestOf(requestId);
    assert.equal((await retry(requestId)).status, status);
    assert.deepEqual(await requestOf(requestId), before);
  }
  await prisma.importRequest.update({ where: { id: waiting.requestId }, data: { state: "processing" } });
  assert.equal((await retry(waiting.requestId)).status, "processing");
  await prisma.importRequest.update({ where: { id: waiting.requestId }, data: { state: "cancelled" } });
  await assert.rejects(retry(waiting.requestId), refusedWith(409, /was cancelled/));
});

test("the retry of an upload whose object is gone is 409 and asks for the file again", async () => {
  const { requestId } = await uploadFile(cloud, Buffer.from("rubbish"), { filename: "g.mcap", key: "g" });
  await deps.blobs.delete((await requestOf(requestId)).blobKey!);
  await assert.rejects(retry(requestId), refusedWith(409, /no longer stored; upload it again/));
  assert.equal((await requestOf(requestId)).state, "error");
});

slowTest("an edge import is processed again from its kept object, and the agent hears how it ended", async () => {
  const agent = await startAgent(cloud, "kept");
  const bytes = await anotherMcap();
  const key = "taken-for-a-while";
  const first = await uploadFile(cloud, await anotherMcap(), { filename: "f.mcap", deviceId: agent.deviceId, key });
  const { item, recordingId } = await requestFromEdge(agent, bytes, key);
  const requestId = await deliver(agent, item, bytes);
  assert.equal((await endOfRecording(recordingId)).importStatus, "failed");
  await agent.report([], { acknowledgements: [requestId] });
  await admin.call(api.recordings.delete, { keyOrId: first.recordingId! });
  assert.equal((await retry(requestId)).status, "received");
  assert.equal((await endOfRecording(recordingId)).importStatus, "complete");
  const { work } = await agent.call(api.edge.work, {});
  assert.deepEqual(
    work.imports.map((wanted) => [wanted.requestId, wanted.stage]),
    [[requestId, "imported"]],
  );
  assert.equal(await prisma.upload.count({ where: { requestId } }), 1, "no byte was sent again");
});

test("a file that is no longer stored is requested from the device again, with the same request", async () => {
  const agent = await startAgent(cloud, "asked-again");
  const bytes = await anotherMcap();
  const { item, recordingId } = await requestFromEdge(agent, bytes);
  const { requestId, versionId } = await wantedOf(agent);
  const reason = { code: "FileUnreadable", text: "EIO" } as const;
  await agent.call(api.edge.failImport, { requestId, versionId, ...reason });
  await agent.report([], { acknowledgements: [requestId] });
  const [failed] = await admin.call(api.pendingImports.list, { requestId });
  assert.deepEqual([failed!.status, failed!.error, failed!.quarantinedAt], ["error", "EIO", undefined]);

  const asked = await retry(requestId);
  assert.deepEqual([asked.status, asked.terminal, asked.pipelineStage], [undefined, false, "Waiting for the device"]);
  assert.equal((await admin.call(api.recordings.get, { keyOrId: recordingId })).importStatus, "pending");
  assert.equal(await deliver(agent, item, bytes), requestId);
  assert.equal((await endOfRecording(recordingId)).importStatus, "complete");
});

slowTest("a file whose object was lost is requested from the device again, as another object", async () => {
  const agent = await startAgent(cloud, "lost-object");
  const { item, recordingId } = await requestFromEdge(agent, Buffer.from("rubbish"));
  const requestId = await deliver(agent, item, Buffer.from("rubbish"));
  await endOfRecording(recordingId);
  const { blobKey } = await requestOf(requestId);
  await deps.blobs.delete(blobKey!);
  await retry(requestId);
  await deliver(agent, item, Buffer.from("rubbish"));
  assert.equal((await endOfRecording(recordingId)).importStatus, "failed");
  assert.notEqual((await requestOf(requestId)).blobKey, blobKey);
});

slowTest("bytes that differed three times are requested from the device again, three more times", async () => {
  const agent = await startAgent(cloud, "differing");
  const bytes = await anotherMcap();
  const { item, recordingId } = await requestFromEdge(agent, bytes);
  const { requestId } = await wantedOf(agent);
  const deliverBroken = async () => {
    const facts = { requestId, versionId: item.versionId, size: item.size, modifiedAt: item.modifiedAt };
    const { uploadId, partSize } = await agent.call(api.edge.openUpload, facts);
    await agent.sendParts({ requestId, uploadId, partSize }, bytes);
    await agent.call(api.edge.completeUpload, { requestId, uploadId, parts: [], sha256: sha256("another file") });
    await untilRequest(cloud, requestId, ["awaiting", "error"]);
  };
  for (const _ of [1, 2, 3]) await deliverBroken();
  assert.equal((await requestOf(requestId)).errorCode, "ContentMismatch");
  await retry(requestId);
  await untilRequest(cloud, requestId, ["awaiting"]);
  await deliver(agent, item, bytes);
  assert.equal((await endOfRecording(recordingId)).importStatus, "complete");
});

test("an edge import whose bytes and edge copy are gone is 409, and the message says so", async () => {
  const agent = await startAgent(cloud, "all-gone");
  const { item, recordingId } = await requestFromEdge(agent, await anotherMcap());
  const { requestId } = await wantedOf(agent);
  await agent.report([], { removals: [item.versionId] });
  assert.equal((await endOfRecording(recordingId)).importStatus, "failed");
  await assert.rejects(retry(requestId), refusedWith(409, /no longer stored, and the edge copy of rec_\w+ is gone/));
});

test("an error is over once the import is requested again, or the data is deleted: the kept object is removed, and a retry is 409", async () => {
  const agent = await startAgent(cloud, "requested-again");
  const requestAgain = (keyOrId: string) => admin.call(api.recordings.requestImport, { keyOrId });
  const remove = (keyOrId: string) => admin.call(api.recordings.delete, { keyOrId });
  for (const end of [requestAgain, remove]) {
    const { item, recordingId } = await requestFromEdge(agent, Buffer.from("rubbish"));
    const requestId = await deliver(agent, item, Buffer.from("rubbish"));
    await endOfRecording(recordingId);
    const { blobKey } = await requestOf(requestId);
    await end(recordingId);
    await assert.rejects(retry(requestId), refusedWith(409, /was cancelled/));
    await eventually(
      () => deps.blobs.stat(blobKey!),
      (object) => object === undefined,
    );
    assert.deepEqual(await admin.call(api.pendingImports.errors, { deviceId: agent.deviceId }), []);
  }
});

test("a request that is not visible is 404: another organization's, and one of a project that the key may not see", async () => {
  const { requestId } = await uploadFile(cloud, Buffer.from("rubbish"), { filename: "v.mcap", key: "v" });
  const notFound = refusedWith(404);
  await assert.rejects(retry(requestId, await cloud.otherOrganization()), notFound);
  await assert.rejects(retry("req_unknown"), notFound);
  const { id } = await admin.call(api.projects.create, { name: "second" });
  await assert.rejects(retry(requestId, cloud.withToken(await cloud.addKey(["data.upload"], [id]))), notFound);
});

/** Makes an upload whose bytes are stored and that ended in an error; no worker is running. */
async function failWithoutWorker(attempts: number) {
  const idle = await startCloud({ after }, { works: false });
  const { link, requestId } = await idle.admin.call(api.uploads.create, { filename: "p.mcap", key: "p" });
  await putFile(link, await anotherMcap());
  const failed = {
    state: "error",
    errorCode: "ObjectMissing",
    errorText: "gone",
    quarantinedAtNs: 1n,
    attempts,
  } as const;
  await idle.deps.db.prisma.importRequest.update({ where: { id: requestId }, data: failed });
  return { ...idle, requestId };
}

slowTest("many retries at the same moment are one", async () => {
  const idle = await failWithoutWorker(1);
  const { requestId } = idle;
  const retries = Array.from({ length: 5 }, () => idle.admin.call(api.pendingImports.retry, { requestId }));
  assert.deepEqual(new Set((await Promise.all(retries)).map(({ status }) => status)), new Set(["received"]));
  const jobs = await idle.deps.db.prisma.$queryRaw<unknown[]>`
    SELECT id FROM pgboss.job WHERE name = 'ingest' AND data ->> 'requestId' = ${requestId}`;
  assert.equal(jobs.length, 2, "that of the upload, and one for all retries");
});

test("the number of attempts before a failure starts over: an import that once failed for long is not given up at its next failure", async (t) => {
  const { requestId, deps: idle, admin: client } = await failWithoutWorker(40);
  await client.call(api.pendingImports.retry, { requestId });
  t.mock.method(idle.blobs, "open", () => Promise.reject(new Error("EIO")));
  await ingest(idle, requestId, new AbortController().signal);
  const [found] = await client.call(api.pendingImports.list, { requestId });
  assert.deepEqual([found!.attempts, found!.terminal], [41, false]);
  assert.ok(found!.nextAttemptAt! - found!.updatedAt <= 2n * SECOND);
});
