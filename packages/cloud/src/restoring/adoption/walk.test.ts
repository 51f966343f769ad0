import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import { api } from "@downlink/protocol";
import { makeClockJump, makeMcap, slowTest } from "@downlink/recordings/testing";
import { withTransaction } from "../../db/transaction.ts";
import { ingest } from "../../imports/ingest/pipeline.ts";
import { reindexRecording } from "../../imports/ingest/reindex-recording.ts";
import { manifestKey } from "../../keeping/manifests/manifest.ts";
import { openIncarnation } from "../../recovery/incarnations.ts";
import { noteEntries } from "../../recovery/note-entries.ts";
import { postgresNow, postgresStanding } from "../../recovery/postgres-sql.ts";
import { copyDatabase } from "../../testing/database-copies.ts";
import { untilLockWaits } from "../../testing/lock-waits.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { type AskedFor, askForFile, recordingItem, sayHello, sha256, startAgent } from "../../testing/test-agent.ts";
import { putFile } from "../../testing/upload-file.ts";
import { replayLedger as replayOf } from "../replay/replay-ledger.ts";
import { acceptMissing } from "./accept-missing.ts";
import { describeWalk } from "./describe-walk.ts";
import { heal } from "./heal.ts";
import { walkStore } from "./walk.ts";

const cloud = await startCloud({ after }, { works: false });
const { admin, deps } = cloud;
const { prisma } = deps.db;
const never = new AbortController().signal;
const replayLedger = async () => undefined;
const emptyDatabase = await copyDatabase(deps.db);
let minute = 0n;

beforeEach(async () => {
  await emptyDatabase();
  for await (const { key } of deps.blobs.list("")) await deps.blobs.delete(key);
  for await (const { key } of deps.blobs.listNotes("manifests/")) await deps.blobs.removeNote(key);
});

/** Makes a recording that no other test has. */
function anotherMcap(metadata: { name: string; metadata: Record<string, string> }[] = []): Promise<Uint8Array> {
  minute += 60n;
  return makeMcap({ startNs: (1_760_000_000n + minute) * 1_000_000_000n, durationSeconds: 1, metadata });
}

/** Uploads a file by a link, without indexing it. */
async function send(bytes: Uint8Array, more: { key?: string; deviceName?: string; sessionKey?: string } = {}) {
  const body = { filename: "a.mcap", deviceName: "robot", ...more };
  const { link, requestId } = await admin.call(api.uploads.create, body);
  assert.equal((await putFile(link, bytes)).status, 200);
  return requestId;
}

async function importFile(bytes: Uint8Array, more: Parameters<typeof send>[1] = {}): Promise<string> {
  const requestId = await send(bytes, more);
  await ingest(deps, requestId, never);
  return (await prisma.importRequest.findUniqueOrThrow({ where: { id: requestId } })).recordingId!;
}

async function deliverAll({ agent, requestId, version }: AskedFor, bytes: Uint8Array): Promise<void> {
  const upload = await agent.call(api.edge.openUpload, version);
  if (!upload.isStored) await agent.sendParts({ requestId, ...upload }, bytes);
  const { uploadId } = upload;
  await agent.call(api.edge.completeUpload, { requestId, uploadId, parts: [], sha256: sha256(bytes) });
}

const recover = () =>
  withTransaction(deps.db, (tx) => openIncarnation(tx, { reason: "a test", nowNs: deps.clock.nowNs() }));
const walk = (over: Partial<Parameters<typeof walkStore>[0]> = {}) =>
  walkStore({ ...deps, replayLedger, ...over }, never);
const passNow = async () => (await prisma.adoption.findUniqueOrThrow({ where: { id: 1 } })).pass;
const isRecovering = async () => (await prisma.deployment.findFirstOrThrow()).recoveringSinceNs !== null;

/** Runs everything that waits, as a worker does. */
async function workOff(): Promise<void> {
  for (const { id } of await prisma.importRequest.findMany({ where: { state: "received" } }))
    await ingest(deps, id, never);
  for (const { id } of await prisma.recording.findMany({ where: { isUnverified: true } }))
    await reindexRecording(deps, { recordingId: id, signal: never });
}

/** Returns what users see of the recordings, without the ids of rows that are created again. */
async function shownRecordings() {
  const rows = await prisma.recording.findMany({
    include: {
      spans: true,
      topics: { orderBy: { topic: "asc" } },
      attachments: true,
      device: true,
      session: true,
      edgeFile: true,
    },
    orderBy: { id: "asc" },
  });
  return rows.map(({ spans, topics, attachments, device, session, edgeFile, ...row }) => ({
    ...{ id: row.id, importStatus: row.importStatus, sha256: row.contentSha256, blobKey: row.blobKey },
    ...{ importId: row.importId, startNs: row.startNs, endNs: row.endNs, sizeBytes: row.sizeBytes, path: row.path },
    ...{ messageCount: row.messageCount, key: row.key, isUnverified: row.isUnverified, device: device?.id },
    ...{ session: session?.key, version: edgeFile?.versionId, attachments: attachments.length, isEdge: row.isEdge },
    spans: spans.map(({ startNs, endNs }) => ({ startNs, endNs })),
    topics: topics.map(({ topic, messageCount, importedStartNs }) => ({ topic, messageCount, importedStartNs })),
  }));
}

test("if the database has lost everything, each recording of the store is complete again with its id and hash", async () => {
  const says = { name: "downlink", metadata: { sessionKey: "from the file" } };
  await importFile(await anotherMcap([says]), { key: "run 1" });
  await importFile(await makeClockJump(), { deviceName: "other", sessionKey: "drive" });
  const bytes = await anotherMcap();
  const asked = await askForFile(cloud, "edge", recordingItem({ size: bytes.length, key: "of the edge" }));
  await deliverAll(asked, bytes);
  await ingest(deps, asked.requestId, never);
  const before = await shownRecordings();
  assert.equal(before.length, 3);
  assert.ok(before.some(({ spans }) => spans.length === 2));

  await emptyDatabase();
  await recover();
  await walk();
  assert.deepEqual([await passNow(), await isRecovering()], ["over", false]);
  const found = await shownRecordings();
  assert.deepEqual(
    found.map(({ id, importStatus, sha256, isUnverified }) => ({ id, importStatus, sha256, isUnverified })),
    before.map(({ id, importStatus, sha256 }) => ({ id, importStatus, sha256, isUnverified: true })),
  );
  for (const { id } of before) {
    const { link } = await admin.call(api.exports.create, { recordingId: id });
    assert.equal((await fetch(link)).status, 200, "it streams at once");
  }
  await workOff();
  const unlinked = before.map((row) => ({ ...row, version: undefined })); // no agent has listed yet
  const ids = (rows: typeof before) => rows.map(({ device: _, ...row }) => row);
  assert.deepEqual(ids(await shownRecordings()), ids(unlinked));
  const importIds = (await prisma.import.findMany()).map(({ id }) => id);
  assert.deepEqual(importIds.sort(), before.map(({ importId }) => importId!).sort());
});

slowTest("if the database has lost some recordings, the rows that it has keep what users changed in them", async () => {
  const bytes = await anotherMcap();
  const asked = await askForFile(cloud, "edge", recordingItem({ size: bytes.length }));
  const early = await importFile(await anotherMcap(), { key: "early" });
  const setBack = await copyDatabase(deps.db);
  await deliverAll(asked, bytes);
  await ingest(deps, asked.requestId, never);
  await importFile(await anotherMcap(), { key: "late" });
  const before = await shownRecordings();

  await setBack();
  const session = await admin.call(api.sessions.create, { deviceId: asked.agent.deviceId, key: "chosen" });
  await prisma.recording.update({ where: { id: asked.recordingId }, data: { sessionId: session.id, key: "chosen" } });
  await recover();
  await walk();
  await workOff();
  const changed = before.map((row) =>
    row.id === asked.recordingId ? { ...row, session: "chosen", key: "chosen" } : row,
  );
  assert.deepEqual(await shownRecordings(), changed);
  const { state, isAcknowledged } = await prisma.importRequest.findUniqueOrThrow({ where: { id: asked.requestId } });
  assert.deepEqual([state, isAcknowledged], ["complete", false], "the agent hears of the end");
  assert(before.some(({ id }) => id === early));
});

test("no file on a device may be deleted because of an adopted recording whose bytes were not read again", async () => {
  const bytes = await anotherMcap();
  const asked = await askForFile(cloud, "edge", recordingItem({ size: bytes.length }));
  await deliverAll(asked, bytes);
  const { agent, item } = asked;
  const setBack = await copyDatabase(deps.db);
  await ingest(deps, asked.requestId, never);
  await setBack();
  await recover();
  await walk();
  const again = await sayHello(cloud, agent);
  const list = async (sequence: number) =>
    again.report([item], { sequence, listing: { id: `listing-${sequence}`, isLast: true, count: 1 } });
  assert.deepEqual((await list(1)).imported, []);
  const ask = async () =>
    (
      await again.call(api.edge.askPermits, {
        items: [{ versionId: item.versionId, reason: "imported", sha256: sha256(bytes) }],
      })
    ).answers[0]!;
  await admin.call(api.devices.update, { nameOrId: agent.deviceId, autoDeleteAfterImport: true });
  await prisma.deployment.updateMany({ data: { deletionHeldUntilNs: null } });
  await prisma.$executeRaw`UPDATE "DeploymentMark" SET "confirmedAtNs" = ${postgresNow}, postgres = ${postgresStanding}`;
  assert.match(JSON.stringify(await ask()), /read again after a restore/);
  await workOff();
  assert.equal((await ask()).answer, "granted");
  assert.deepEqual((await list(2)).imported, [item.versionId]);
});

for (const isListedFirst of [true, false])
  slowTest(
    `a file is one recording if ${isListedFirst ? "its agent lists it before the walk" : "the walk comes first"}`,
    async () => {
      const agent = await startAgent(cloud, "edge");
      const enrolled = await copyDatabase(deps.db);
      const bytes = await anotherMcap();
      const items = [recordingItem({ size: bytes.length }), recordingItem({ size: 1000 })];
      await agent.report(items);
      for (const { path } of items) {
        const [found] = await admin.call(api.recordings.list, { path });
        await admin.call(api.recordings.requestImport, { keyOrId: found!.id });
      }
      const [whole, partial] = await Promise.all(
        items.map((item) => prisma.importRequest.findFirstOrThrow({ where: { versionId: item.versionId } })),
      );
      const [item, other] = items as [(typeof items)[0], (typeof items)[0]];
      const version = { requestId: whole!.id, versionId: item.versionId, size: item.size, modifiedAt: item.modifiedAt };
      const asked = { agent, item, recordingId: whole!.recordingId!, requestId: whole!.id, version };
      await deliverAll(asked, bytes);
      await ingest(deps, whole!.id, never);
      const begun = { requestId: partial!.id, versionId: other.versionId, size: 1000, modifiedAt: other.modifiedAt };
      const { uploadId } = await agent.call(api.edge.openUpload, begun);
      const expected = [
        { id: whole!.recordingId!, importStatus: "complete", path: item.path },
        { id: partial!.recordingId!, importStatus: "pending", path: other.path },
      ];

      await enrolled();
      await recover();
      const again = await sayHello(cloud, agent);
      if (isListedFirst) await again.report(items);
      await walk();
      if (!isListedFirst) await again.report(items);
      await workOff();
      const now = (await shownRecordings()).map(({ id, importStatus, path }) => ({ id, importStatus, path }));
      assert.deepEqual(
        now,
        expected.sort((a, b) => (a.id < b.id ? -1 : 1)),
        `listed first: ${isListedFirst}`,
      );
      const files = await prisma.edgeFile.findMany({ include: { recording: true } });
      assert.deepEqual(files.map(({ recordingId }) => recordingId).sort(), expected.map(({ id }) => id).sort());
      const resumed = await again.call(api.edge.openUpload, begun);
      assert.equal(resumed.uploadId, uploadId, "it goes on where it was");
      const { startNs } = await prisma.recording.findUniqueOrThrow({ where: { id: partial!.recordingId! } });
      assert.equal(startNs, other.start, "its agent has said what it is");
    },
  );

slowTest("a file is one recording if its agent lists it while the walk finds its unfinished upload", async () => {
  const agent = await startAgent(cloud, "edge");
  const enrolled = await copyDatabase(deps.db);
  const item = recordingItem({ size: 1000 });
  await agent.report([item]);
  const [found] = await admin.call(api.recordings.list, { path: item.path });
  await admin.call(api.recordings.requestImport, { keyOrId: found!.id });
  const { id: requestId } = await prisma.importRequest.findFirstOrThrow();
  const version = { requestId, versionId: item.versionId, size: item.size, modifiedAt: item.modifiedAt };
  await agent.call(api.edge.openUpload, version);
  await enrolled();
  await recover();
  const again = await sayHello(cloud, agent);
  await withTransaction(deps.db, async (tx) => {
    await tx.$executeRaw`LOCK TABLE "EdgeFile" IN SHARE ROW EXCLUSIVE MODE`; // a report gets as far as to store the file
    const reporting = again.report([item]);
    await untilLockWaits(deps.db);
    const walking = walk();
    await Promise.race([walking, untilLockWaits(deps.db, 2)]);
    return { reporting, walking };
  }).then(({ reporting, walking }) => Promise.all([reporting, walking]));
  const ids = (await shownRecordings()).map(({ id }) => id);
  assert.deepEqual(ids, [found!.id]);
});

slowTest("a file that was acknowledged and not indexed is a pending import again", async () => {
  const bytes = await anotherMcap();
  const asked = await askForFile(cloud, "edge", recordingItem({ size: bytes.length }));
  await deliverAll(asked, bytes);
  const requestId = await send(await anotherMcap());
  await emptyDatabase();
  await recover();
  await walk();
  await workOff();
  const rows = await prisma.importRequest.findMany({ orderBy: { createdAtNs: "asc" } });
  assert.deepEqual(
    rows.map(({ id, state }) => [id, state]),
    [asked.requestId, requestId].map((id) => [id, "complete"]),
  );
  assert.equal(await prisma.recording.count({ where: { id: asked.recordingId, importStatus: "complete" } }), 1);
});

slowTest(
  "nothing is indexed before all imports are known again, so that a copy does not come before its original",
  async () => {
    const bytes = await anotherMcap();
    const original = await importFile(bytes);
    await emptyDatabase();
    await recover();
    const requestId = await send(bytes);
    await ingest(deps, requestId, never);
    assert.equal((await prisma.importRequest.findUniqueOrThrow({ where: { id: requestId } })).state, "received");
    await walk();
    await workOff();
    const { state, isExisting, recordingId } = await prisma.importRequest.findUniqueOrThrow({
      where: { id: requestId },
    });
    assert.deepEqual([state, isExisting, recordingId], ["complete", true, original]);
  },
);

slowTest("what the database knows as deleted or abandoned stays so", async () => {
  const id = await importFile(await anotherMcap());
  const { blobKey } = await prisma.recording.findUniqueOrThrow({ where: { id } });
  await admin.call(api.recordings.delete, { keyOrId: id }); // its object is removed later
  const setBack = await copyDatabase(deps.db);
  assert(await deps.blobs.stat(blobKey!));
  await setBack();
  await recover();
  await walk();
  assert.deepEqual(await shownRecordings(), []);
});

slowTest(
  "by the ledger, recordings and devices that were deleted after the backup stay deleted, even if an object still exists",
  async () => {
    const kept = await importFile(await anotherMcap());
    const setBack = await copyDatabase(deps.db);
    const deleted = await importFile(await anotherMcap(), { deviceName: "sold" });
    const { blobKey } = await prisma.recording.findUniqueOrThrow({ where: { id: deleted } });
    await send(Buffer.from("no recording"), { deviceName: "sold" });
    await workOff(); // the import fails, and its file is kept
    await admin.call(api.recordings.delete, { keyOrId: deleted });
    const { id: deviceId } = await prisma.device.findFirstOrThrow({ where: { name: "sold" } });
    await admin.call(api.devices.delete, { nameOrId: deviceId });
    await noteEntries(deps);
    await setBack();
    await recover();
    await walk({ replayLedger: (signal) => replayOf(deps, signal) });
    await workOff();
    assert(await deps.blobs.stat(blobKey!));
    assert.deepEqual(
      (await shownRecordings()).map(({ id }) => id),
      [kept],
    );
    assert.equal(await prisma.device.count({ where: { name: "sold" } }), 0);
  },
);

test("a recording whose object is missing says so, is requested from the edge at the end, and is complete once the object is back", async () => {
  const bytes = await anotherMcap();
  const asked = await askForFile(cloud, "edge", recordingItem({ size: bytes.length }));
  await deliverAll(asked, bytes);
  await ingest(deps, asked.requestId, never);
  const sent = await anotherMcap();
  const uploaded = await importFile(sent);
  const before = await shownRecordings();
  for (const { blobKey } of before) await deps.blobs.delete(blobKey!);
  await recover();
  await walk();
  const lost = await prisma.recording.findUniqueOrThrow({ where: { id: uploaded } });
  assert.deepEqual([lost.importStatus, lost.failureCode], ["failed", "ObjectMissing"]);
  const wanted = await prisma.importRequest.findMany({ where: { state: "awaiting" } });
  assert.deepEqual(
    wanted.map(({ recordingId, priority }) => [recordingId, priority]),
    [[asked.recordingId, -1000]],
  );

  const put = (row: (typeof before)[0], content: Uint8Array) =>
    deps.blobs.put(
      row.blobKey!,
      (async function* () {
        yield content;
      })(),
    );
  for (const row of before) await put(row, row.id === uploaded ? sent : bytes);
  await heal(deps, never);
  assert.deepEqual(await shownRecordings(), before);
  assert.equal(await prisma.importRequest.count({ where: { state: "awaiting" } }), 0);
});

slowTest("if too many objects are missing, nothing is marked as missing before an admin has answered", async () => {
  const ids: string[] = [];
  for (let n = 0; n < 11; n++) ids.push(await importFile(await anotherMcap()));
  for (const { blobKey } of await prisma.recording.findMany()) await deps.blobs.delete(blobKey!);
  await recover();
  await walk();
  await walk();
  assert.deepEqual([await passNow(), await isRecovering()], ["asking", true]);
  assert.equal(await prisma.recording.count({ where: { importStatus: "complete" } }), 11);
  assert.match((await describeWalk(deps)).join("\n"), /waits for --accept-missing.*\n.* 11 of 11 recordings without/);
  assert.equal(await acceptMissing(deps), true);
  await walk();
  assert.deepEqual([await passNow(), await isRecovering()], ["over", false]);
  assert.equal(await prisma.recording.count({ where: { failureCode: "ObjectMissing" } }), 11);
  assert.equal(await acceptMissing(deps), false);
});

slowTest("while the store does not answer, the walk waits, and marks nothing as missing", async () => {
  const id = await importFile(await anotherMcap());
  await recover();
  const failing = { ...deps.blobs, stat: () => Promise.reject(new Error("503 SlowDown")) };
  await assert.rejects(walk({ blobs: failing }), /SlowDown/);
  const empty = { ...deps.blobs, stat: async () => undefined, check: async () => "the store is not there" };
  await assert.rejects(walk({ blobs: empty }), /not there/);
  assert.equal((await prisma.recording.findUniqueOrThrow({ where: { id } })).importStatus, "complete");
  await walk();
  assert.equal((await prisma.recording.findUniqueOrThrow({ where: { id } })).importStatus, "complete");
  assert.equal(await isRecovering(), false);
});

slowTest("a manifest that is not understood, or whose object differs, does not block the others", async () => {
  const [first, second] = [await importFile(await anotherMcap()), await importFile(await anotherMcap())];
  const { blobKey } = await prisma.recording.findUniqueOrThrow({ where: { id: first } });
  await deps.blobs.removeNote(manifestKey(blobKey!, "import"));
  await deps.blobs.putNote(manifestKey(blobKey!, "import"), Buffer.from("{}"));
  await emptyDatabase();
  await recover();
  await walk();
  assert.deepEqual(
    (await shownRecordings()).map(({ id }) => id),
    [second],
  );
  assert.equal((await prisma.adoption.findFirstOrThrow()).doubtful, 1);
});

slowTest(
  "a copy that arrives while the data of its original is lost becomes that data, or a recording of its own if an agent sends it",
  async () => {
    const bytes = await anotherMcap();
    const uploaded = await importFile(bytes, { key: "kept" });
    const edgeBytes = await anotherMcap();
    const first = await askForFile(cloud, "edge", recordingItem({ size: edgeBytes.length }));
    await deliverAll(first, edgeBytes);
    await ingest(deps, first.requestId, never);
    for (const { blobKey } of await prisma.recording.findMany()) await deps.blobs.delete(blobKey!);

    assert.equal(await importFile(bytes), uploaded);
    const [again] = (await shownRecordings()).filter(({ id }) => id === uploaded);
    assert.deepEqual([again!.importStatus, again!.sha256, again!.key], ["complete", sha256(bytes), "kept"]);
    assert(await deps.blobs.stat(again!.blobKey!));

    const { agent } = first;
    const item = recordingItem({ size: edgeBytes.length });
    await agent.report([item]);
    const [copy] = await admin.call(api.recordings.list, { path: item.path });
    await admin.call(api.recordings.requestImport, { keyOrId: copy!.id });
    const { id: requestId } = await prisma.importRequest.findFirstOrThrow({ where: { recordingId: copy!.id } });
    const { versionId, size, modifiedAt } = item;
    const version = { requestId, versionId, size, modifiedAt, sha256: sha256(edgeBytes) };
    await deliverAll({ agent, item, recordingId: copy!.id, requestId, version }, edgeBytes);
    await ingest(deps, requestId, never);
    assert.equal((await admin.call(api.recordings.get, { keyOrId: copy!.id })).importStatus, "complete");
    assert.equal((await admin.call(api.recordings.get, { keyOrId: first.recordingId })).importStatus, "pending");
  },
);
