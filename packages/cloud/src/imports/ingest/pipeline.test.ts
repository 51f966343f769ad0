import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, type CallInput } from "@downlink/protocol";
import { eventually, makeBag, makeMcap, slowTest } from "@downlink/recordings/testing";
import { ThreadFailedError, TooHeavyError } from "../../background/indexing/indexing-errors.ts";
import { BlobNotFoundError } from "../../store/blobs/blob-errors.ts";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { deliver, recordingItem, startAgent } from "../../testing/test-agent.ts";
import { putFile, untilRequest, uploadFile } from "../../testing/upload-file.ts";
import { ingest } from "./pipeline.ts";
import { reconcile } from "./reconcile.ts";

const SECOND = 1_000_000_000n;
const cloud = await startCloud({ after });
const { admin } = cloud;
let minute = 0n;

/** Makes a recording that no other test has. */
function anotherMcap(metadata: { name: string; metadata: Record<string, string> }[] = []) {
  minute += 60n;
  return makeMcap({ startNs: (1_760_000_000n + minute) * SECOND, durationSeconds: 1, metadata });
}

const upload = (bytes: Uint8Array, body: CallInput<typeof api.uploads.create>) => uploadFile(cloud, bytes, body);

let known: ReturnType<typeof uploadKnown> | undefined;

/** Uploads one recording for all tests that compare another upload with one: none of them changes it. */
async function uploadKnown() {
  const bytes = await anotherMcap();
  return { bytes, first: await upload(bytes, { filename: "k.mcap", deviceName: "robot", key: "known" }) };
}

function knownRecording() {
  known ??= uploadKnown();
  return known;
}

test("an uploaded MCAP becomes a complete recording of a device created by its name, with topics and attachments", async () => {
  const bytes = await makeMcap({ attachments: [{ name: "calibration.json", data: Buffer.from("{}") }] });
  const ended = await upload(bytes, { filename: "drive.mcap", deviceName: "new-robot", key: "drive-1" });
  assert.deepEqual([ended.status, ended.error, ended.attempts], ["complete", undefined, 1]);

  const recording = await admin.call(api.recordings.get, { keyOrId: "drive-1" });
  assert.deepEqual([recording.importStatus, recording.path, recording.size], ["complete", "drive.mcap", bytes.length]);
  assert.equal(recording.device!.name, "new-robot");
  assert.ok(recording.importedAt && recording.site!.name === "primary" && recording.end > recording.start);
  const topics = await admin.call(api.topics.list, { recordingKey: "drive-1", includeSchemas: true });
  assert.deepEqual(
    topics.map(({ topic }) => topic),
    ["/camera/front", "/gps", "/imu", "/log"],
  );
  assert.match(Buffer.from(topics[2]!.schema!, "base64").toString(), /angular_velocity/);
  assert.equal(await cloud.deps.db.prisma.recordingAttachment.count({ where: { recordingId: recording.id } }), 1);
  const events = await cloud.deps.db.prisma.outboxEvent.findMany({ orderBy: { id: "asc" } });
  const shown = events.filter(({ payload }) => JSON.stringify(payload).includes(recording.id)).map(({ type }) => type);
  assert.deepEqual(shown, ["recording.created", "recording.imported"]);
});

test("an uploaded bag becomes a complete recording", async () => {
  const { recordingId } = await upload(await makeBag(), { filename: "drive.bag", deviceName: "bag-robot" });
  const recording = await admin.call(api.recordings.get, { keyOrId: recordingId! });
  assert.equal(recording.importStatus, "complete");
  assert.deepEqual(
    (await admin.call(api.topics.list, { recordingId: recording.id })).map(({ topic, encoding }) => [topic, encoding]),
    [
      ["/imu", "ros1"],
      ["/status", "ros1"],
    ],
  );
});

test("a valid file without a message is no recording: it is quarantined with code EmptyRecording", async () => {
  const ended = await upload(await makeMcap({ topics: [] }), { filename: "empty.mcap", deviceName: "robot" });
  assert.deepEqual([ended.status, ended.errorCode, ended.recordingId], ["error", "EmptyRecording", null]);
  assert.ok(ended.quarantinedAt);
});

test("the last metadata record named downlink names device, key and session; explicit fields override it", async () => {
  const metadata: { name: string; metadata: Record<string, string> }[] = [
    { name: "foxglove", metadata: { deviceName: "first", key: "meta-0" } },
    { name: "downlink", metadata: { deviceName: "meta-robot", key: "meta-1", sessionKey: "morning" } },
  ];
  await upload(await anotherMcap(metadata), { filename: "a.mcap", key: "explicit" });
  const recording = await admin.call(api.recordings.get, { keyOrId: "explicit" });
  assert.equal(recording.device!.name, "meta-robot");
  assert.ok(recording.sessionId);
  const { recordingId } = await upload(await anotherMcap(metadata), { filename: "b.mcap", deviceName: "meta-robot" });
  const second = await admin.call(api.recordings.get, { keyOrId: "meta-1" });
  assert.deepEqual([second.id, second.sessionId], [recordingId, recording.sessionId]);
});

test("a deviceId in the metadata that does not exist fails the import with Device not found", async () => {
  const bytes = await anotherMcap([{ name: "downlink", metadata: { deviceId: "dev_unknown" } }]);
  const ended = await upload(bytes, { filename: "lost.mcap", key: "lost" });
  assert.equal(ended.errorCode, "DeviceNotFound");
  assert.match(ended.error!, /^Device not found: dev_unknown/);
});

test("same key and same content is the existing recording, and the object of the copy is removed", async () => {
  const { bytes, first } = await knownRecording();
  const again = await upload(bytes, { filename: "k.mcap", deviceName: "robot", key: "known" });
  assert.deepEqual([again.recordingId, again.importId], [first.recordingId, first.importId]);
  const { prisma } = cloud.deps.db;
  const uploads = await prisma.upload.findMany({ where: { requestId: again.requestId } });
  await eventually(
    () => cloud.deps.blobs.stat(uploads[0]!.blobKey),
    (object) => object === undefined,
  );
});

test("same key and other content fails the import, and the first recording stays as it is", async () => {
  const { first } = await knownRecording();
  const other = await upload(await anotherMcap(), { filename: "k2.mcap", deviceName: "robot", key: "known" });
  assert.deepEqual([other.status, other.errorCode], ["error", "KeyTaken"]);
  assert.equal((await admin.call(api.recordings.get, { keyOrId: "known" })).id, first.recordingId);
});

test("same device and same content under another key is rejected, naming the first", async () => {
  const { bytes, first } = await knownRecording();
  const second = await upload(bytes, { filename: "c2.mcap", deviceName: "robot", key: "another key" });
  assert.equal(second.errorCode, "DuplicateContent");
  assert.ok(second.error!.includes(first.recordingId!));
});

test("a repeated upload without a key for the same device is the existing recording; another device has its own", async () => {
  const bytes = await anotherMcap();
  const first = await upload(bytes, { filename: "r.mcap", deviceName: "robot" });
  assert.equal((await upload(bytes, { filename: "r.mcap", deviceName: "robot" })).recordingId, first.recordingId);
  assert.notEqual(
    (await upload(bytes, { filename: "r.mcap", deviceName: "other-robot" })).recordingId,
    first.recordingId,
  );
});

test("with no device and different keys both are kept", async () => {
  const bytes = await anotherMcap();
  const first = await upload(bytes, { filename: "d.mcap", key: "deviceless-1" });
  const second = await upload(bytes, { filename: "d.mcap", key: "deviceless-2" });
  assert.notEqual(first.recordingId, second.recordingId);
  const without = await admin.call(api.recordings.list, { deviceId: "" });
  assert.deepEqual(without.map(({ key }) => key).sort(), ["deviceless-1", "deviceless-2"]);
});

slowTest("many uploads of one file at the same moment end as one recording", async () => {
  const bytes = await anotherMcap();
  const ended = await Promise.all(
    Array.from({ length: 6 }, () => upload(bytes, { filename: "race.mcap", deviceName: "racer" })),
  );
  assert.deepEqual(
    ended.map(({ status }) => status),
    Array(6).fill("complete"),
  );
  assert.equal(new Set(ended.map(({ recordingId }) => recordingId)).size, 1);
});

slowTest(
  "an edge recording is imported on request; its data can be deleted and imported again; without its edge copy it is removed with its data",
  async () => {
    const agent = await startAgent(cloud, "importer");
    const bytes = await anotherMcap();
    const item = recordingItem({ size: bytes.length, start: 1n, end: 2n });
    await agent.report([item]);
    const recordings = () => admin.call(api.recordings.list, { deviceId: agent.deviceId });
    const { id } = (await recordings())[0]!;

    const importOnce = async () => {
      await admin.call(api.recordings.requestImport, { keyOrId: id });
      await deliver(agent, item, bytes);
      await eventually(recordings, ([found]) => found!.importStatus === "complete");
    };
    await importOnce();
    const [imported] = await recordings();
    assert.ok(imported!.start > 2n, "what the cloud read replaces what the agent had said");
    assert.equal((await admin.call(api.recordings.requestImport, { keyOrId: id })).importStatus, "complete");

    const { blobKey } = await cloud.deps.db.prisma.recording.findUniqueOrThrow({ where: { id } });
    assert.deepEqual(await admin.call(api.recordings.delete, { keyOrId: id }), { recordingId: id, hasEdgeCopy: true });
    assert.deepEqual(
      (await recordings()).map(({ importStatus, importedAt }) => [importStatus, importedAt]),
      [["none", undefined]],
    );
    await eventually(
      () => cloud.deps.blobs.stat(blobKey!),
      (object) => object === undefined,
    );

    await importOnce();
    await agent.report([], { removals: [item.versionId] });
    assert.equal((await recordings())[0]!.importStatus, "complete");
    await admin.call(api.recordings.delete, { keyOrId: id });
    await assert.rejects(admin.call(api.recordings.get, { keyOrId: id }), refusedWith("NotFound"));
  },
);

slowTest("importing a copy at the edge fails with DuplicateContent, naming the first", async () => {
  const agent = await startAgent(cloud, "copier");
  const bytes = await anotherMcap();
  const items = [recordingItem({ size: bytes.length }), recordingItem({ size: bytes.length })];
  await agent.report(items);
  const recordings = () => admin.call(api.recordings.list, { deviceId: agent.deviceId, sortBy: "path" });
  const byPath = [...items].sort((a, b) => (a.path < b.path ? -1 : 1));
  for (const [index, item] of byPath.entries()) {
    await admin.call(api.recordings.requestImport, { keyOrId: (await recordings())[index]!.id });
    await deliver(agent, item, bytes);
    await eventually(recordings, (found) => ["complete", "failed"].includes(found[index]!.importStatus));
  }
  const [first, second] = await recordings();
  assert.deepEqual([first!.importStatus, second!.importStatus], ["complete", "failed"]);
  const failed = await cloud.deps.db.prisma.recording.findUniqueOrThrow({ where: { id: second!.id } });
  assert.equal(failed.failureCode, "DuplicateContent");
  assert.ok(failed.failureText!.includes(first!.id));
});

test("a recording that is deleted while its file is being processed does not come back", async () => {
  const idle = await startCloud({ after }, { works: false });
  const agent = await startAgent(idle, "deleted");
  const bytes = await anotherMcap();
  const item = recordingItem({ size: bytes.length });
  await agent.report([item]);
  const { id } = (await idle.admin.call(api.recordings.list, {}))[0]!;
  await idle.admin.call(api.recordings.requestImport, { keyOrId: id });
  const requestId = await deliver(agent, item, bytes);
  await agent.report([], { removals: [item.versionId] });
  await idle.admin.call(api.recordings.delete, { keyOrId: id });
  await ingest(idle.deps, requestId, new AbortController().signal);
  assert.deepEqual(await idle.admin.call(api.recordings.list, {}), []);
});

test("an import that a dead worker left is continued, and the attempt that lost it changes nothing", async () => {
  const bytes = await anotherMcap();
  const { recordingId, requestId } = await upload(bytes, { filename: "late.mcap", deviceName: "late" });
  const { prisma } = cloud.deps.db;
  const { blobKey } = await prisma.recording.findUniqueOrThrow({ where: { id: recordingId! } });
  await prisma.recording.delete({ where: { id: recordingId! } });
  await prisma.import.deleteMany({ where: { recordingId: recordingId! } });
  const abandoned = { state: "processing", blobKey, recordingId: null, importId: null, updatedAtNs: 0n } as const;
  await prisma.importRequest.update({ where: { id: requestId }, data: abandoned });
  await reconcile(cloud.deps);
  await untilRequest(cloud, requestId, ["complete"]);
  const list = () => admin.call(api.pendingImports.list, { requestId, showCompleted: true });
  const [ended] = await list();
  assert.deepEqual([ended!.status, ended!.attempts], ["complete", 2]);
  await ingest(cloud.deps, requestId, new AbortController().signal);
  assert.deepEqual((await list())[0], ended);
});

/** Starts a control plane without workers, and a file that waits to be processed. */
async function startIdle(bytes: Uint8Array) {
  const idle = await startCloud({ after }, { works: false });
  const { link, requestId } = await idle.admin.call(api.uploads.create, { filename: "a.mcap", deviceName: "robot" });
  await putFile(link, bytes);
  const find = () => idle.deps.db.prisma.importRequest.findUniqueOrThrow({ where: { id: requestId } });
  return { ...idle, requestId, find };
}

slowTest(
  "a second job of a request does not disturb the one at work, and takes over once that shows no sign of life",
  async (t) => {
    const { deps, requestId, find } = await startIdle(await anotherMcap());
    const [entered, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const index: typeof deps.indexer.index = async (source, file) => {
      entered.resolve();
      await held.promise;
      return deps.indexer.index(source, { ...file, signal: never });
    };
    t.after(() => held.resolve());
    const never = new AbortController().signal;
    const first = ingest({ ...deps, indexer: { ...deps.indexer, index } }, requestId, never);
    await entered.promise;
    await ingest(deps, requestId, never);
    assert.deepEqual([(await find()).state, (await find()).attempts], ["processing", 1]);
    const later = await deps.db.prisma.$queryRaw<object[]>`
    SELECT id FROM pgboss.job WHERE name = 'ingest' AND start_after > created_on + interval '2 seconds'`;
    assert.equal(later.length, 1, "it looks again later");

    await deps.db.prisma.importRequest.update({ where: { id: requestId }, data: { updatedAtNs: 0n } });
    await ingest(deps, requestId, never);
    const taken = await find();
    assert.deepEqual([taken.state, taken.attempts], ["complete", 2]);
    held.resolve();
    await first;
    assert.deepEqual(await find(), taken);
  },
);

slowTest("a worker that is told to stop releases its import at once: the next one need not wait", async () => {
  const { deps, requestId, find } = await startIdle(await anotherMcap());
  const stopping = new AbortController();
  const index: typeof deps.indexer.index = (_source, { signal }) => {
    stopping.abort(new Error("told to stop"));
    return Promise.reject(signal.reason);
  };
  await assert.rejects(
    ingest({ ...deps, indexer: { ...deps.indexer, index } }, requestId, stopping.signal),
    /told to stop/,
  );
  await ingest(deps, requestId, new AbortController().signal);
  assert.equal((await find()).state, "complete");
});

slowTest(
  "a failure of the indexer is permanent at once if the file is at fault, and after half an hour if it may not be",
  async () => {
    const { deps, requestId, find } = await startIdle(await anotherMcap());
    const { prisma } = deps.db;
    const process = (error: Error, blobs = deps.blobs) =>
      ingest({ ...deps, blobs, indexer: { ...deps.indexer, index: () => Promise.reject(error) } }, requestId, never);
    const never = new AbortController().signal;
    const again = (attempts: number) =>
      prisma.importRequest.update({ where: { id: requestId }, data: { state: "received", errorCode: null, attempts } });

    await process(new TooHeavyError("it is too heavy"));
    assert.deepEqual([(await find()).errorCode, (await find()).errorText], ["TooHeavy", "it is too heavy"]);
    for (const [code, error, open] of [
      ["IndexingFailed", new ThreadFailedError("it ended"), deps.blobs.open],
      ["ObjectMissing", new Error("not reached"), (key: string) => Promise.reject(new BlobNotFoundError(key))],
    ] as const) {
      for (const [attempts, expected] of [
        [3, ["processing", null]],
        [11, ["error", code]],
      ] as const) {
        await again(attempts);
        await process(error, { ...deps.blobs, open });
        const { state, errorCode } = await find();
        assert.deepEqual([state, errorCode], expected, `${code} after ${attempts} attempts`);
      }
    }
  },
);
