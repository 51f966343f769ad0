import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api } from "@downlink/protocol";
import type { RecordingIdentity } from "@downlink/recordings";
import type { ImportRequestUncheckedCreateInput } from "../../db/generated/models.ts";
import { newId } from "../../db/ids.ts";
import { type Transaction, withTransaction } from "../../db/transaction.ts";
import { primarySiteOf } from "../../organization/projects/primary-site.ts";
import { untilLockWaits } from "../../testing/lock-waits.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { recordingItem, startAgent } from "../../testing/test-agent.ts";
import type { IngestError } from "./ingest-failure.ts";
import { nameTarget, resolveTarget, type Source, type Target } from "./resolve-target.ts";

const cloud = await startCloud({ after }, { works: false });
const { admin, deps } = cloud;
const { prisma } = deps.db;
const robot = await startAgent(cloud, "robot");
const { projectId, orgId } = await prisma.device.findUniqueOrThrow({ where: { id: robot.deviceId } });

/** Returns where an import ends whose device is the robot and whose file says `identity`. */
async function resolve(
  request: Partial<ImportRequestUncheckedCreateInput>,
  identity: RecordingIdentity = {},
): Promise<Target> {
  const row = await prisma.importRequest.create({
    data: {
      id: newId("req"),
      orgId,
      projectId,
      siteId: (await primarySiteOf(prisma, orgId)).id,
      source: "upload",
      state: "processing",
      pipelineStage: "Filing",
      deviceId: robot.deviceId,
      filename: "a.mcap",
      createdAtNs: 1n,
      updatedAtNs: 1n,
      ...request,
    },
  });
  const source = { request: row, identity, nowNs: deps.clock.nowNs() };
  return withTransaction(deps.db, (tx) => targetOf(tx, source));
}

async function sessionOf(...importing: Parameters<typeof resolve>): Promise<string | undefined> {
  return (await resolve(...importing)).sessionId;
}

async function targetOf(tx: Transaction, source: Source): Promise<Target> {
  return resolveTarget(tx, source, await nameTarget(tx, source));
}

const create = (key?: string) => admin.call(api.sessions.create, { deviceId: robot.deviceId, key });
const remove = (keyOrId: string) => admin.call(api.sessions.delete, { keyOrId });
const failedWith = (code: string) => (error: IngestError) => error.code === code;

async function recordAtEdge(): Promise<string> {
  const item = recordingItem();
  await robot.report([item]);
  return (await prisma.recording.findFirstOrThrow({ where: { path: item.path } })).id;
}

test("a new session is created once for the given device if none has the key", async () => {
  const id = await sessionOf({ sessionKey: "new" });
  assert.equal((await admin.call(api.sessions.get, { keyOrId: "new" })).id, id);
  assert.equal(await sessionOf({ sessionKey: "new" }), id);
  assert.equal(await sessionOf({}, { sessionKey: "new" }), id);
});

test("explicit fields override the file's own session key", async () => {
  const { id } = await create();
  assert.equal(await sessionOf({ sessionId: id }, { sessionKey: "of the file" }), id);
  const named = await sessionOf({ sessionKey: "of the request" }, { sessionKey: "of the file" });
  assert.equal((await admin.call(api.sessions.get, { keyOrId: "of the request" })).id, named);
  assert.equal(await prisma.session.count({ where: { key: "of the file" } }), 0);
});

test("the session key of a deleted session creates a new session; the id of a deleted one is an error", async () => {
  const { id } = await create("deleted");
  await remove(id);
  await assert.rejects(sessionOf({ sessionId: id }), failedWith("SessionNotFound"));
  const next = await sessionOf({ sessionKey: "deleted" });
  assert.notEqual(next, id);
  assert.equal((await admin.call(api.sessions.get, { keyOrId: "deleted" })).id, next);
});

test("an edge recording stays in its session when it is imported, whatever key its file names", async () => {
  const recordingId = await recordAtEdge();
  const { id } = await admin.call(api.sessions.create, { recordingIds: [recordingId] });
  assert.equal(await sessionOf({ recordingId, source: "edge" }), id);
  assert.equal(await sessionOf({ recordingId, source: "edge" }, { sessionKey: "another" }), id);
  await remove(id);
  assert.equal(await sessionOf({ recordingId, source: "edge" }), undefined);
  assert.ok(await sessionOf({ recordingId, source: "edge" }, { sessionKey: "another" }));
});

test("a session of another device, a missing device and a key that cannot be stored are errors that name their reason", async () => {
  const twin = await startAgent(cloud, "twin");
  await admin.call(api.sessions.create, { deviceId: twin.deviceId, key: "of the twin" });
  await assert.rejects(sessionOf({ sessionKey: "of the twin" }), failedWith("SessionOfOtherDevice"));
  await assert.rejects(sessionOf({ sessionKey: "k", deviceId: null }), failedWith("SessionNeedsDevice"));
  for (const sessionKey of ["k".repeat(1025), "a\0"])
    await assert.rejects(sessionOf({}, { sessionKey }), failedWith("InvalidSessionKey"));
});

test("a session that is deleted while an import goes into it keeps no recording", async () => {
  const recordingId = await recordAtEdge();
  const { id } = await create("raced");
  let deleted: Promise<unknown> | undefined;
  await withTransaction(deps.db, async (tx) => {
    const request = await prisma.importRequest.findFirstOrThrow({ where: { orgId } });
    const source = { request: { ...request, sessionId: id, sessionKey: null }, identity: {}, nowNs: 1n };
    const { sessionId } = await targetOf(tx, source);
    deleted = remove(id);
    await Promise.race([deleted, untilLockWaits(deps.db)]);
    await tx.recording.update({ where: { id: recordingId }, data: { sessionId } });
  });
  await deleted;
  assert.equal((await prisma.recording.findUniqueOrThrow({ where: { id: recordingId } })).sessionId, null);
});

test("a file that names another project cannot move an upload out of the project of its link", async () => {
  const { id: another } = await admin.call(api.projects.create, { name: "another" });
  const theirs = await admin.call(api.devices.create, { name: "theirs", projectId: another });
  const upload = { deviceId: null };
  for (const named of [{}, { projectId: another }])
    await assert.rejects(resolve(upload, { ...named, deviceId: theirs.id }), failedWith("DeviceNotFound"));
  const { device, ...target } = await resolve(upload, { projectId: another, deviceName: "theirs" });
  assert.deepEqual([target.projectId, device!.projectId, device!.id === theirs.id], [projectId, projectId, false]);
});
