import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, type CallInput } from "@downlink/protocol";
import { makeMcap, slowTest } from "@downlink/recordings/testing";
import { withTransaction } from "../../db/transaction.ts";
import { lockRecording } from "../../import-life/lock-recording.ts";
import { untilLockWaits } from "../../testing/lock-waits.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { endOfImport, putFile, uploadFile } from "../../testing/upload-file.ts";
import { joinSession } from "./join-session.ts";

const SECOND = 1_000_000_000n;
const cloud = await startCloud({ after });
const { admin, deps } = cloud;
const { prisma } = deps.db;
const { id: deviceId } = await admin.call(api.devices.create, { name: "robot" });
let number = 0;

type Body = Partial<CallInput<typeof api.uploads.create>>;

/** Uploads a recording that no other test has, and that is in no session. */
async function uploadOne(body: Body = { deviceId }, metadata: Record<string, string> = {}) {
  number += 1;
  const startNs = (1_760_000_000n + 60n * BigInt(number)) * SECOND;
  const records = [{ name: "downlink", metadata }];
  const bytes = await makeMcap({ startNs, durationSeconds: 1, metadata: records });
  const { recordingId } = await uploadFile(cloud, bytes, { filename: "first.mcap", ...body });
  const again = (named: Body) => uploadFile(cloud, bytes, { filename: "again.mcap", ...body, ...named });
  return { recordingId: recordingId!, bytes, again };
}

const sessionOf = async (recordingId: string) =>
  (await admin.call(api.recordings.get, { keyOrId: recordingId })).sessionId;
const createSession = async (key?: string) => (await admin.call(api.sessions.create, { deviceId, key })).id;
const remove = (keyOrId: string) => admin.call(api.sessions.delete, { keyOrId });
const keyOf = async (id: string | undefined) => (await admin.call(api.sessions.get, { keyOrId: id! })).key;

async function timesPublished(sessionId: string): Promise<number> {
  const events = await prisma.outboxEvent.findMany({ where: { type: "session.created" } });
  return events.filter(({ payload }) => JSON.stringify(payload).includes(sessionId)).length;
}

test("a repeated upload puts a recording that is in no session into the one that it names, by key or id", async () => {
  const one = await uploadOne();
  const ended = await one.again({ sessionKey: "named later" });
  const session = await admin.call(api.sessions.get, { keyOrId: "named later" });
  assert.deepEqual(
    [ended.recordingId, ended.existing, ended.pipelineStage, await sessionOf(one.recordingId)],
    [one.recordingId, true, "Complete", session.id],
  );
  assert.equal(await timesPublished(session.id), 1);
  const [listed] = await admin.call(api.pendingImports.list, { sessionId: session.id, showCompleted: true });
  assert.equal(listed!.requestId, ended.requestId);

  const other = await uploadOne();
  assert.equal((await other.again({ sessionId: session.id })).pipelineStage, "Complete");
  assert.equal(await sessionOf(other.recordingId), session.id);
  assert.equal((await other.again({ sessionKey: "named later" })).pipelineStage, "Complete", "it is there");
});

slowTest("a recording stays in the session that it has, and the import says so", async () => {
  const { recordingId, again } = await uploadOne({ deviceId, sessionKey: "the first" });
  const first = await sessionOf(recordingId);
  const second = await createSession("the second");
  for (const named of [{ sessionKey: "the second" }, { sessionId: second, sessionKey: undefined }]) {
    const { status, pipelineStage, error } = await again(named);
    const expected = ["complete", `Complete; the recording is in session ${first} already`, undefined];
    assert.deepEqual([status, pipelineStage, error], expected);
  }
  assert.equal(await sessionOf(recordingId), first);
  assert.deepEqual((await admin.call(api.sessions.get, { keyOrId: second })).recordings, []);
});

slowTest(
  "of repeats that name different sessions at the same moment, one gets the recording, and the others name that session",
  async () => {
    const { recordingId, again } = await uploadOne();
    const keys = ["a", "b", "c", "d"].map((letter) => `contender ${letter}`);
    const ended = await Promise.all(keys.map((sessionKey) => again({ sessionKey })));
    const sessionId = await sessionOf(recordingId);
    const key = await keyOf(sessionId);
    const stages = ended.map(({ pipelineStage }) => pipelineStage);
    assert.deepEqual(
      stages,
      keys.map((own) => (own === key ? "Complete" : `Complete; the recording is in session ${sessionId} already`)),
    );
  },
);

slowTest(
  "if a session was deleted since the link was made, its key creates another one, and its id is named",
  async () => {
    const one = await uploadOne();
    const deleted = await createSession("deleted");
    const [byKey, byId] = [{ sessionKey: "deleted" }, { sessionId: deleted }];
    const ask = (named: Body) => admin.call(api.uploads.create, { filename: "again.mcap", deviceId, ...named });
    const links = [await ask(byId), await ask(byKey)];
    await remove(deleted);
    const stages: string[] = [];
    for (const { link, requestId } of links) {
      assert.equal((await putFile(link, one.bytes)).status, 200);
      stages.push((await endOfImport(cloud, requestId)).pipelineStage);
    }
    assert.deepEqual(stages, [`Complete; the recording is in no session, because ${deleted} was deleted`, "Complete"]);
    const next = await admin.call(api.sessions.get, { keyOrId: "deleted" });
    assert.deepEqual([await sessionOf(one.recordingId), await timesPublished(next.id)], [next.id, 1]);
  },
);

slowTest(
  "without a device in the upload, the session is created for the recording's device; a recording of no device joins none",
  async () => {
    const { projectId } = await admin.call(api.devices.get, { nameOrId: deviceId });
    const key = "of the file's device";
    const one = await uploadOne({ key, projectId }, { deviceId });
    assert.equal((await one.again({ sessionKey: key })).pipelineStage, "Complete");
    const session = await admin.call(api.sessions.get, { keyOrId: key });
    assert.deepEqual(
      [session.device.id, session.recordings.length, await timesPublished(session.id)],
      [deviceId, 1, 1],
    );

    const alone = await uploadOne({ key: "deviceless", projectId });
    const ended = await alone.again({ sessionKey: "deviceless" });
    const reason = "Complete; the recording is in no session, because it is of no device";
    assert.deepEqual([ended.status, ended.pipelineStage], ["complete", reason]);
    assert.equal(await prisma.session.count({ where: { key: "deviceless" } }), 0);
  },
);

slowTest("a recording joins no session of another device", async () => {
  const one = await uploadOne({ deviceId, key: "of two" });
  const { requestId, link } = await admin.call(api.uploads.create, {
    filename: "again.mcap",
    key: "of two",
    deviceName: "twin",
    sessionKey: "of the twin",
  });
  await remove("of the twin");
  assert.equal((await putFile(link, one.bytes)).status, 200);
  const isOfOther = `Complete; the recording is in no session, because it is of device ${deviceId}`;
  assert.equal((await endOfImport(cloud, requestId)).pipelineStage, isOfOther);
  assert.equal(await prisma.session.count({ where: { key: "of the twin", deletedAtNs: null } }), 0);

  const { id: twinId } = await admin.call(api.devices.get, { nameOrId: "twin" });
  const { id: sessionId } = await admin.call(api.sessions.create, { deviceId: twinId });
  const { projectId } = await admin.call(api.devices.get, { nameOrId: "twin" });
  const ended = await one.again({ deviceId: undefined, projectId, sessionId });
  assert.deepEqual([ended.pipelineStage, await sessionOf(one.recordingId)], [isOfOther, undefined]);
});

test("a repeat that names no session leaves a recording where its owner put it, whatever its file names", async () => {
  const { recordingId, again } = await uploadOne({ deviceId }, { sessionKey: "of the file" });
  const removeRecordingIds = [recordingId];
  await admin.call(api.sessions.update, { keyOrId: "of the file", removeRecordingIds });
  assert.equal((await again({})).pipelineStage, "Complete");
  assert.equal(await sessionOf(recordingId), undefined);
});

test("a session that is deleted while a recording joins it keeps no recording", async () => {
  const { recordingId } = await uploadOne();
  const sessionId = await createSession();
  let deleted: Promise<unknown> | undefined;
  await withTransaction(deps.db, async (tx) => {
    const request = { deviceId, sessionId, sessionKey: null };
    const recording = await lockRecording(tx, recordingId);
    assert.equal(await joinSession(tx, { request, recording, nowNs: 1n }), undefined);
    deleted = remove(sessionId);
    await Promise.race([deleted, untilLockWaits(deps.db)]);
  });
  await deleted;
  assert.equal(await sessionOf(recordingId), undefined);
});
