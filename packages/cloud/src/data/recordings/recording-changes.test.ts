import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { ApiCallError } from "@downlink/client";
import { api, type Recording } from "@downlink/protocol";
import { eventually, makeMcap, slowTest } from "@downlink/recordings/testing";
import { ingest } from "../../imports/ingest/pipeline.ts";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { deliver, recordingItem, startAgent, type TestAgent } from "../../testing/test-agent.ts";
import { putFile, untilRecording, uploadFile } from "../../testing/upload-file.ts";

const SECOND = 1_000_000_000n;
const cloud = await startCloud({ after });
const { admin, deps } = cloud;
const { prisma } = deps.db;
let minute = 0n;

/** Makes a recording that no other test has. */
function anotherMcap() {
  minute += 60n;
  const attachments = [{ name: "a.json", data: Buffer.from("{}") }];
  return makeMcap({ startNs: (1_760_000_000n + minute) * SECOND, durationSeconds: 1, attachments });
}

/** The bytes of a file of which nothing is delivered. */
const unread = Buffer.alloc(1000);

type Item = ReturnType<typeof recordingItem>;

/** Reports a recording at the edge, in status none. */
async function reportTo(agent: TestAgent, bytes: Uint8Array, client = admin): Promise<{ id: string; item: Item }> {
  const item = recordingItem({ size: bytes.length });
  await agent.report([item]);
  const [found] = await client.call(api.recordings.list, { path: item.path });
  return { id: found!.id, item };
}

const request = (keyOrId: string) => admin.call(api.recordings.requestImport, { keyOrId });
const cancel = (keyOrId: string) => admin.call(api.recordings.cancelImport, { keyOrId });
const remove = (keyOrId: string) => admin.call(api.recordings.delete, { keyOrId });
const statusOf = async (keyOrId: string) => (await admin.call(api.recordings.get, { keyOrId })).importStatus;

async function reaches(id: string, wanted: Recording["importStatus"]) {
  await untilRecording(cloud, id, [wanted]);
  assert.equal(await statusOf(id), wanted);
}

async function importFrom(agent: TestAgent, bytes: Uint8Array): Promise<{ id: string; item: Item; blobKey: string }> {
  const { id, item } = await reportTo(agent, bytes);
  await request(id);
  await deliver(agent, item, bytes);
  await reaches(id, "complete");
  const { blobKey } = await prisma.recording.findUniqueOrThrow({ where: { id } });
  return { id, item, blobKey: blobKey! };
}

const isGone = (blobKey: string) =>
  eventually(
    () => deps.blobs.stat(blobKey),
    (object) => object === undefined,
  );

test("requesting an import returns 200 when queued, already queued or already imported, and names the status", async () => {
  const agent = await startAgent(cloud, "requested");
  const bytes = await anotherMcap();
  const { id, item } = await reportTo(agent, bytes);
  for (const _ of [1, 2]) assert.deepEqual(await request(id), { id, importStatus: "pending" });
  assert.equal(await prisma.importRequest.count({ where: { recordingId: id } }), 1);
  await deliver(agent, item, bytes);
  await reaches(id, "complete");
  assert.deepEqual(await request(id), { id, importStatus: "complete" });
  assert.equal(await prisma.importRequest.count({ where: { recordingId: id } }), 1);
});

test("many requests for one recording at the same moment queue one import", async () => {
  const agent = await startAgent(cloud, "hurried");
  const { id } = await reportTo(agent, unread);
  await Promise.all(Array.from({ length: 8 }, () => request(id)));
  assert.equal(await prisma.importRequest.count({ where: { recordingId: id } }), 1);
});

test("requesting an import returns 404 when the recording is not found or its edge copy is deleted", async () => {
  await assert.rejects(request("rec_unknown"), refusedWith(404));
  const agent = await startAgent(cloud, "emptied");
  const { id, item } = await reportTo(agent, unread);
  await request(id);
  await agent.report([], { removals: [item.versionId] });
  const { importStatus, failure } = await admin.call(api.recordings.get, { keyOrId: id });
  assert.deepEqual([importStatus, failure!.code], ["failed", "EdgeCopyGone"]);
  assert.match(failure!.text, /edge copy|device/i);
  await assert.rejects(request(id), refusedWith(404, /edge copy/));
});

test("requesting an import returns 404 when the recording's edge site is deleted", async () => {
  const agent = await startAgent(cloud, "at-a-site");
  const { id } = await reportTo(agent, unread);
  const site = await admin.call(api.sites.create, { name: "depot", type: "edge" });
  await prisma.recording.update({ where: { id }, data: { edgeSiteId: site.id } });
  await admin.call(api.sites.delete, { id: site.id });
  await assert.rejects(request(id), refusedWith(404, /edge copy/));
});

test("a request that the edge has not delivered can be cancelled: the recording is as before; later that is 409", async () => {
  const agent = await startAgent(cloud, "cancelled");
  const bytes = await anotherMcap();
  const { id, item } = await reportTo(agent, bytes);
  await request(id);
  assert.deepEqual(await cancel(id), { id, importStatus: "none" });
  assert.deepEqual(await cancel(id), { id, importStatus: "none" });
  assert.deepEqual((await agent.call(api.edge.work, {})).work.imports, []);
  await request(id);
  await deliver(agent, item, bytes);
  await reaches(id, "complete");
  await assert.rejects(cancel(id), refusedWith(409, /complete/));
});

test("an imported edge recording that is deleted loses its imported data alone, and stays in its session; without an edge copy it is removed", async () => {
  const agent = await startAgent(cloud, "deleted");
  const bytes = await anotherMcap();
  const { id, item, blobKey } = await importFrom(agent, bytes);
  const session = await admin.call(api.sessions.create, { recordingIds: [id] });
  assert.deepEqual(await remove(id), { recordingId: id, hasEdgeCopy: true });
  await isGone(blobKey);
  const { importedAt, site, importStatus, sessionId, start } = await admin.call(api.recordings.get, { keyOrId: id });
  assert.ok(start > item.end, "what the cloud read replaces what the agent had said");
  assert.deepEqual([importedAt, site, importStatus, sessionId], [undefined, undefined, "none", session.id]);
  await request(id);
  await deliver(agent, item, bytes);
  await reaches(id, "complete");
  assert.equal((await admin.call(api.recordings.get, { keyOrId: id })).sessionId, session.id);

  const second = await prisma.recording.findUniqueOrThrow({ where: { id } });
  await agent.report([], { removals: [item.versionId] });
  assert.equal(await statusOf(id), "complete");
  await remove(id);
  await assert.rejects(admin.call(api.recordings.get, { keyOrId: id }), refusedWith(404));
  await isGone(second.blobKey!);
});

test("deleting a recording by its key removes the row, its topics and attachments; its session stays", async () => {
  const body = { filename: "k.mcap", deviceName: "uploader", key: "to be deleted", sessionKey: "stays" };
  const { recordingId, requestId } = await uploadFile(cloud, await anotherMcap(), body);
  const { blobKey } = await prisma.recording.findUniqueOrThrow({ where: { id: recordingId! } });
  assert.deepEqual(await remove("to be deleted"), { recordingId, hasEdgeCopy: false });
  await assert.rejects(admin.call(api.recordings.get, { keyOrId: recordingId! }), refusedWith(404));
  const left = { where: { recordingId: recordingId! } };
  assert.deepEqual([await prisma.recordingTopic.count(left), await prisma.recordingAttachment.count(left)], [0, 0]);
  await isGone(blobKey!);
  assert.deepEqual((await admin.call(api.sessions.get, { keyOrId: "stays" })).recordings, []);
  const [pending] = await admin.call(api.pendingImports.list, { requestId, showCompleted: true });
  assert.equal(pending!.status, "complete", "the request stays, as history");
  const [event] = await prisma.outboxEvent.findMany({ where: { type: "recording.deleted" }, orderBy: { id: "desc" } });
  const { recording } = event!.payload as { recording: { id: string; key: string; importStatus: string } };
  assert.deepEqual([recording.id, recording.key, recording.importStatus], [recordingId, "to be deleted", "complete"]);
});

test("deleting a recording that is only requested cancels the request; deleting a failed one removes its kept object", async () => {
  const agent = await startAgent(cloud, "unwanted");
  const { id } = await reportTo(agent, unread);
  await request(id);
  await remove(id);
  assert.equal(await statusOf(id), "none");
  assert.deepEqual((await agent.call(api.edge.work, {})).work.imports, []);

  const failing = await reportTo(agent, Buffer.from("rubbish"));
  await request(failing.id);
  const requestId = await deliver(agent, failing.item, Buffer.from("rubbish"));
  await reaches(failing.id, "failed");
  const { blobKey } = await prisma.importRequest.findUniqueOrThrow({ where: { id: requestId } });
  await remove(failing.id);
  await isGone(blobKey!);
  assert.equal(await statusOf(failing.id), "none");
});

slowTest(
  "deleting a recording whose file is being processed removes the bytes too, and the running attempt changes nothing",
  async () => {
    const idle = await startCloud({ after }, { works: false });
    const agent = await startAgent(idle, "overtaken");
    const bytes = await anotherMcap();
    const { id, item } = await reportTo(agent, bytes, idle.admin);
    await idle.admin.call(api.recordings.requestImport, { keyOrId: id });
    const requestId = await deliver(agent, item, bytes);
    const { importRequest, recording } = idle.deps.db.prisma;
    const { blobKey } = await importRequest.findUniqueOrThrow({ where: { id: requestId } });
    await idle.admin.call(api.recordings.delete, { keyOrId: id });
    await ingest(idle.deps, requestId, new AbortController().signal);
    const { importStatus, blobKey: held } = await recording.findUniqueOrThrow({ where: { id } });
    const { state } = await importRequest.findUniqueOrThrow({ where: { id: requestId } });
    assert.deepEqual([importStatus, held, state], ["none", null, "cancelled"]);
    const jobs = await idle.deps.db.prisma.$queryRaw<unknown[]>`
    SELECT id FROM pgboss.job WHERE name = 'remove-object.2' AND data ->> 'blobKey' = ${blobKey}`;
    assert.equal(jobs.length, 1);
  },
);

slowTest(
  "when a deletion and the end of an import come at the same moment, the recording is whole or gone, and no object is left over",
  async () => {
    const agent = await startAgent(cloud, "raced");
    for (let round = 0; round < 6; round++) {
      const bytes = await anotherMcap();
      const { id, item } = await reportTo(agent, bytes);
      await request(id);
      const requestId = await deliver(agent, item, bytes);
      const key = (await prisma.upload.findFirstOrThrow({ where: { requestId } })).blobKey;
      await eventually(
        () => prisma.importRequest.findUniqueOrThrow({ where: { id: requestId } }),
        ({ state, attempts }) => attempts > 0 && (round % 2 === 0 || state !== "received"),
      );
      await remove(id);
      const row = await eventually(
        () => prisma.importRequest.findUniqueOrThrow({ where: { id: requestId } }),
        ({ state }) => state === "complete" || state === "cancelled",
      );
      assert.deepEqual([await statusOf(id), row.blobKey], ["none", null]);
      await isGone(key);
    }
  },
);

test("of two deletions at the same moment one deletes, and the other finds nothing", async () => {
  const { recordingId } = await uploadFile(cloud, await anotherMcap(), { filename: "t.mcap", key: "twice deleted" });
  const answers = await Promise.allSettled([remove(recordingId!), remove(recordingId!), remove(recordingId!)]);
  assert.deepEqual(answers.map(({ status }) => status).sort(), ["fulfilled", "rejected", "rejected"]);
  const failures = answers.flatMap((answer) => (answer.status === "rejected" ? [answer.reason as ApiCallError] : []));
  assert.ok(failures.every(refusedWith(404)));
});

slowTest(
  "a device is not deleted while it has a recording or a running import, and the refusal says which",
  async () => {
    const idle = await startCloud({ after }, { works: false });
    const { id: deviceId } = await idle.admin.call(api.devices.create, { name: "busy" });
    const deleteDevice = () => idle.admin.call(api.devices.delete, { nameOrId: deviceId });
    const { link, requestId } = await idle.admin.call(api.uploads.create, { filename: "b.mcap", deviceId });
    await putFile(link, await anotherMcap());
    await assert.rejects(deleteDevice(), refusedWith(409, /1 imports under way/));
    await ingest(idle.deps, requestId, new AbortController().signal);
    await assert.rejects(deleteDevice(), refusedWith(409, /1 recordings/));
    const [recording] = await idle.admin.call(api.recordings.list, { deviceId });
    await idle.admin.call(api.recordings.delete, { keyOrId: recording!.id });
    assert.deepEqual(await deleteDevice(), { id: deviceId });
  },
);

slowTest(
  "an import and an upload show the key that requested them, by its name at that moment, even after the key is gone",
  async () => {
    const made = await admin.call(api.apiKeys.create, { name: "night shift", capabilities: ["*"] });
    const byNight = cloud.withToken(made.token!);
    const agent = await startAgent(cloud, "asked-by-night");
    const bytes = await anotherMcap();
    const { id, item } = await reportTo(agent, bytes);
    await byNight.call(api.recordings.requestImport, { keyOrId: id });
    await byNight.call(api.uploads.create, { filename: "night.mcap", deviceId: agent.deviceId });
    await admin.call(api.apiKeys.update, { id: made.id, name: "day shift" });
    await admin.call(api.apiKeys.delete, { id: made.id });
    const requestedBy = { kind: "apiKey", id: made.id, name: "night shift" };
    for (const source of ["edge", "upload"] as const) {
      const row = await prisma.importRequest.findFirstOrThrow({ where: { deviceId: agent.deviceId, source } });
      assert.deepEqual(row.requestedBy, requestedBy, source);
    }
    await deliver(agent, item, bytes);
    await reaches(id, "complete");
    const [shown] = await admin.call(api.pendingImports.list, { deviceId: agent.deviceId, showCompleted: true });
    assert.deepEqual([shown!.requestedBy, shown!.recordingId], [requestedBy, id]);
  },
);

test("a failed recording shows the reason until it is requested again; its messages are counted", async () => {
  const agent = await startAgent(cloud, "failing");
  const { id, item } = await reportTo(agent, unread);
  assert.equal((await admin.call(api.recordings.get, { keyOrId: id })).messageCount, item.messageCount);
  await request(id);
  const { requestId } = (await agent.call(api.edge.work, {})).work.imports[0]!;
  const failure = { code: "FileUnreadable", text: "EIO: i/o error" } as const;
  await agent.call(api.edge.failImport, { requestId, versionId: item.versionId, ...failure });
  assert.deepEqual((await admin.call(api.recordings.get, { keyOrId: id })).failure, failure);
  await request(id);
  assert.equal((await admin.call(api.recordings.get, { keyOrId: id })).failure, undefined);
});
