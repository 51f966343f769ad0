import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, type Recording } from "@downlink/protocol";
import { firstCases, makeMcap, slowTest } from "@downlink/recordings/testing";
import { terminalStates } from "../../import-life/import-request-state.ts";
import { startCloud, type TestCloud } from "../../testing/start-cloud.ts";
import { deliver, recordingItem, startAgent, type TestAgent } from "../../testing/test-agent.ts";
import { endOfImport, putFile, untilRequest, uploadFile } from "../../testing/upload-file.ts";

const SECOND = 1_000_000_000n;
const cloud = await startCloud({ after });
const { admin, deps } = cloud;
const { prisma } = deps.db;
let minute = 0n;

type Metadata = { name: string; metadata: Record<string, string> }[];

/** Makes a recording that no other test has. */
function anotherMcap(metadata: Metadata = []) {
  minute += 60n;
  return makeMcap({ startNs: (1_760_000_000n + minute) * SECOND, durationSeconds: 1, metadata });
}

let known: ReturnType<typeof uploadKnown> | undefined;

/** Uploads one recording for all tests that compare another upload with one: none of them changes it. */
async function uploadKnown() {
  const bytes = await anotherMcap();
  const body = { filename: "known.mcap", deviceName: "known", key: "known", sessionKey: "known" };
  return { bytes, body, first: await uploadFile(cloud, bytes, body) };
}

function knownRecording() {
  known ??= uploadKnown();
  return known;
}

const saysOfItself = (metadata: Record<string, string>): Metadata => [{ name: "downlink", metadata }];
const recordingOf = (keyOrId: string | null) => admin.call(api.recordings.get, { keyOrId: keyOrId! });
const device = (name: string) => admin.call(api.devices.create, { name });
const devicesNamed = (name: string) => prisma.device.count({ where: { name } });

async function eventsOf(recordingId: string) {
  const rows = await prisma.outboxEvent.findMany({ where: { type: { startsWith: "recording." } } });
  const shown = rows.map(({ type, payload }) => ({ type, ...(payload as { recording?: { id: string } }) }));
  return shown.filter(({ recording }) => recording?.id === recordingId);
}

/** Reports a file, and finishes its import. */
async function importFromEdge(agent: TestAgent, bytes: Uint8Array, key?: string): Promise<Recording> {
  const item = recordingItem({ size: bytes.length, key });
  await agent.report([item]);
  const [{ id }] = (await admin.call(api.recordings.list, { path: item.path })) as [Recording];
  await admin.call(api.recordings.requestImport, { keyOrId: id });
  const requestId = await deliver(agent, item, bytes);
  await untilRequest(cloud, requestId, terminalStates);
  return recordingOf(id);
}

const failureOf = (id: string) =>
  prisma.recording.findUniqueOrThrow({ where: { id }, select: { failureCode: true, failureText: true } });

test("each explicit API field overrides the file's own metadata", async () => {
  const [given, own] = [await device("given"), await device("own")];
  const file = (key: string) => anotherMcap(saysOfItself({ deviceId: own.id, key, sessionKey: `session of ${key}` }));
  const byId = await uploadFile(cloud, await file("own-1"), { filename: "a.mcap", deviceId: given.id });
  assert.deepEqual([byId.deviceId, (await recordingOf(byId.recordingId)).key], [given.id, "own-1"]);
  const byName = await uploadFile(cloud, await file("own-2"), { filename: "a.mcap", deviceName: "given" });
  assert.deepEqual([byName.deviceId, (await recordingOf(byName.recordingId)).key], [given.id, "own-2"]);
  const session = await admin.call(api.sessions.create, { deviceId: own.id, key: "of the upload" });
  const body = { filename: "a.mcap", key: "of the upload", sessionKey: "of the upload" };
  const byKeys = await recordingOf((await uploadFile(cloud, await file("own-3"), body)).recordingId);
  assert.deepEqual([byKeys.device!.id, byKeys.key, byKeys.sessionId], [own.id, "of the upload", session.id]);
  assert.equal(await prisma.session.count({ where: { key: "session of own-3" } }), 0);
});

slowTest(
  "of the metadata records named downlink or foxglove the last one counts as a whole; others have no effect",
  async () => {
    const metadata: Metadata = [
      { name: "downlink", metadata: { deviceName: "first-record", key: "first-record" } },
      { name: "foxglove", metadata: { deviceName: "last-record" } },
      { name: "other", metadata: { deviceName: "no-record", key: "no-record" } },
    ];
    const { recordingId } = await uploadFile(cloud, await anotherMcap(metadata), { filename: "m.mcap", key: "m" });
    assert.equal((await recordingOf(recordingId)).device!.name, "last-record");
    const named = metadata.slice(0, 1);
    await uploadFile(cloud, await anotherMcap(named), { filename: "m.mcap", deviceName: "last-record" });
    assert.equal((await recordingOf("first-record")).device!.name, "last-record");
    assert.equal(await devicesNamed("no-record"), 0);
  },
);

slowTest(
  "deviceId must exist, else the import fails with Device not found, also for a device of another organization",
  async () => {
    const other = await cloud.otherOrganization();
    const theirs = await other.call(api.devices.create, { name: "theirs" });
    for (const deviceId of ["dev_unknown", theirs.id]) {
      const ended = await uploadFile(cloud, await anotherMcap(saysOfItself({ deviceId })), {
        filename: "x.mcap",
        key: "x",
      });
      assert.deepEqual(
        [ended.status, ended.error, ended.recordingId],
        ["error", `Device not found: ${deviceId}`, null],
      );
    }
  },
);

test("a device that was deleted between the link and the import is not found, and the file is filed under no device", async () => {
  const { id: deviceId } = await device("short-lived");
  const { link, requestId } = await admin.call(api.uploads.create, { filename: "gone.mcap", deviceId });
  await admin.call(api.devices.delete, { nameOrId: deviceId });
  assert.equal((await putFile(link, await anotherMcap())).status, 200);
  await untilRequest(cloud, requestId, ["error"]);
  const [ended] = await admin.call(api.pendingImports.errors, { filenameMatches: "gone.mcap" });
  assert.equal(ended!.requestId, requestId);
  assert.deepEqual([ended!.error, ended!.deviceId], [`Device not found: ${deviceId}`, deviceId]);
});

test("this also holds for a device that the link had created; a deleted session is created again under its key", async () => {
  const body = { filename: "made.mcap", deviceName: "made-and-gone" };
  const lost = await admin.call(api.uploads.create, body);
  const { id } = await admin.call(api.devices.get, { nameOrId: "made-and-gone" });
  await admin.call(api.devices.delete, { nameOrId: id });
  assert.equal((await putFile(lost.link, await anotherMcap())).status, 200);
  assert.equal((await endOfImport(cloud, lost.requestId)).error, `Device not found: ${id}`);
  assert.equal(await devicesNamed("made-and-gone"), 0);

  const kept = await admin.call(api.uploads.create, { ...body, deviceName: "made", sessionKey: "made" });
  const first = await admin.call(api.sessions.get, { keyOrId: "made" });
  await admin.call(api.sessions.delete, { keyOrId: first.id });
  assert.equal((await putFile(kept.link, await anotherMcap())).status, 200);
  const { recordingId } = await endOfImport(cloud, kept.requestId);
  const second = await admin.call(api.sessions.get, { keyOrId: "made" });
  assert.deepEqual(
    second.recordings.map((recording) => recording.id),
    [recordingId],
  );
  assert.notEqual(second.id, first.id);
});

test("the file's deviceName creates the device, and its sessionKey the session; names that break the rules are errors", async () => {
  const own = { deviceName: "said-by-the-file", sessionKey: "said by the file" };
  const { recordingId } = await uploadFile(cloud, await anotherMcap(saysOfItself(own)), {
    filename: "s.mcap",
    key: "s",
  });
  const session = await admin.call(api.sessions.get, { keyOrId: "said by the file" });
  const recording = await recordingOf(recordingId);
  assert.deepEqual([recording.device!.name, recording.sessionId], ["said-by-the-file", session.id]);
  const bad = { deviceName: "InvalidDeviceName", key: "InvalidKey", sessionKey: "InvalidSessionKey" };
  for (const [field, code] of Object.entries(bad)) {
    const bytes = await anotherMcap(saysOfItself({ deviceName: "said-by-the-file", [field]: "鍵".repeat(1025) }));
    const named = field === "key" ? { deviceName: "said-by-the-file" } : { key: "bad" };
    const ended = await uploadFile(cloud, bytes, { filename: "s.mcap", ...named });
    assert.deepEqual([ended.status, ended.errorCode], ["error", code]);
  }
});

test("same key and same content is the existing recording, whatever else the repeat says: its owner stays", async () => {
  const { bytes, first } = await knownRecording();
  const { sessionId: firstSession } = await recordingOf(first.recordingId);
  const body = { filename: "other.mcap", key: "known", deviceName: "second-of-two", sessionKey: "second of two" };
  const again = await uploadFile(cloud, bytes, body);
  assert.deepEqual([again.status, again.recordingId, again.importId], ["complete", first.recordingId, first.importId]);
  const { device: owner, sessionId } = await recordingOf(first.recordingId);
  assert.deepEqual([owner!.name, sessionId], ["known", firstSession]);
  assert.equal(again.deviceName, "known", "the request says where its file is");
  assert.equal(await prisma.import.count({ where: { recordingId: first.recordingId! } }), 1);
});

test("a key belongs to one project: the same key with other content in another project is another recording", async () => {
  const org: TestCloud = { ...cloud, admin: await cloud.otherOrganization() };
  await org.admin.call(api.projects.create, { name: "second" });
  for (const { id: projectId } of await org.admin.call(api.projects.list, {})) {
    const body = { filename: "p.mcap", key: "shared", projectId };
    assert.equal((await uploadFile(org, await anotherMcap(), body)).status, "complete");
  }
});

test("a repeated upload without a key is the existing recording, even if that one has a key", async () => {
  const { bytes, first } = await knownRecording();
  const again = await uploadFile(cloud, bytes, { filename: "r.mcap", deviceName: "known" });
  assert.equal(again.recordingId, first.recordingId);
  assert.deepEqual([first.existing, again.existing], [false, true]);
  const list = () => admin.call(api.pendingImports.list, { requestId: again.requestId, showCompleted: true });
  assert.equal((await list())[0]!.recordingId, first.recordingId);
});

test("nothing is shared between organizations: the same file under the same key and names is a recording in each", async () => {
  const { bytes, body, first: here } = await knownRecording();
  const theirs: TestCloud = { ...cloud, admin: await cloud.otherOrganization() };
  const there = await uploadFile(theirs, bytes, body);
  assert.deepEqual([here.status, there.status], ["complete", "complete"]);
  assert.notEqual(there.recordingId, here.recordingId);
  const rows = await prisma.recording.findMany({
    where: { key: "known" },
    select: { orgId: true, blobKey: true },
  });
  assert.equal(new Set(rows.map(({ orgId }) => orgId)).size, 2);
  assert.equal(new Set(rows.map(({ blobKey }) => blobKey)).size, 2, "stored objects are never shared");
});

slowTest("of concurrent uploads of different files under one key one is kept, and the others fail", async () => {
  const files = [await anotherMcap(), await anotherMcap(), await anotherMcap()];
  const body = { filename: "c.mcap", deviceName: "contender", key: "contended" };
  const ended = await Promise.all(files.map((bytes) => uploadFile(cloud, bytes, body)));
  assert.deepEqual(ended.map(({ status }) => status).sort(), ["complete", "error", "error"]);
  assert.deepEqual(
    ended.flatMap(({ errorCode }) => errorCode ?? []),
    ["KeyTaken", "KeyTaken"],
  );
  assert.equal(await devicesNamed("contender"), 1);
});

test("a copy at the edge is a recording of its own, and importing it fails with DuplicateContent, naming the first", async () => {
  const agent = await startAgent(cloud, "copier");
  const bytes = await anotherMcap();
  const first = await uploadFile(cloud, bytes, { filename: "e.mcap", deviceId: agent.deviceId, key: "at-the-edge" });
  for (const key of firstCases(2, [undefined, "at-the-edge", "another-key"])) {
    const copy = await importFromEdge(agent, bytes, key);
    assert.notEqual(copy.id, first.recordingId);
    const { failureCode, failureText } = await failureOf(copy.id);
    assert.deepEqual([copy.importStatus, failureCode], ["failed", "DuplicateContent"]);
    assert.ok(failureText!.includes(first.recordingId!));
  }
});

slowTest(
  "an edge recording whose key belongs to other content fails, and names the recording with that key",
  async () => {
    const agent = await startAgent(cloud, "key-thief");
    const first = await uploadFile(cloud, await anotherMcap(), {
      filename: "t.mcap",
      key: "stolen",
      deviceName: "owner",
    });
    const failed = await importFromEdge(agent, await anotherMcap(), "stolen");
    const { failureCode, failureText } = await failureOf(failed.id);
    assert.deepEqual([failed.importStatus, failureCode], ["failed", "KeyTaken"]);
    assert.ok(failureText!.includes(first.recordingId!));
    assert.equal((await recordingOf("stolen")).id, first.recordingId, "by the key the imported one is meant");
  },
);

test("an agent's files belong to its own device, whatever device the file names", async () => {
  const agent = await startAgent(cloud, "carrier");
  const own = { deviceName: "somebody-else", key: "carried" };
  const recording = await importFromEdge(agent, await anotherMcap(saysOfItself(own)));
  assert.deepEqual([recording.device!.name, recording.key], ["carrier", "carried"]);
  assert.equal(await devicesNamed("somebody-else"), 0);
});

test("events about a recording have the one shape of the specification", async () => {
  const recording = await recordingOf((await knownRecording()).first.recordingId);
  const { id, key, sessionId, importStatus, path } = recording;
  const shape = { id, key, sessionId, importStatus, path, device: recording.device, site: recording.site };
  assert.deepEqual(
    (await eventsOf(id)).sort((a, b) => (a.type < b.type ? -1 : 1)),
    [
      { type: "recording.created", recording: shape },
      { type: "recording.imported", recording: shape },
    ],
  );
  assert.equal(recording.site!.indexingStrategy, "whole-files");
});

slowTest("a failed import publishes its request, and the recording too if there is one", async () => {
  const ended = await uploadFile(cloud, Buffer.from("rubbish"), { filename: "f.mcap", deviceName: "stated" });
  const rows = await prisma.outboxEvent.findMany({ where: { type: "recording.importFailed" } });
  const payloads = rows.map(
    ({ payload }) => payload as { requestId: string; error: string; recording?: { id: string } },
  );
  const own = payloads.find(({ requestId }) => requestId === ended.requestId)!;
  assert.deepEqual([own.error, own.recording], [ended.error, undefined]);
  const agent = await startAgent(cloud, "unlucky");
  const failed = await importFromEdge(agent, Buffer.from("no recording"));
  const [event] = (await eventsOf(failed.id)).filter(({ type }) => type === "recording.importFailed");
  assert.deepEqual(event!.recording, {
    id: failed.id,
    path: failed.path,
    importStatus: "failed",
    device: failed.device,
  });
});
