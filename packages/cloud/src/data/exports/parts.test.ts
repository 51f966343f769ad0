import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, CUT_RECORD_NAME } from "@downlink/protocol";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { recordingItem, sayHello } from "../../testing/test-agent.ts";

const cloud = await startCloud({ after }, { works: false });
const { admin } = cloud;
const { prisma } = cloud.deps.db;
const START_NS = 1_000_000_000_000n;

/** Reports a recording of two topics, of one of which a part is asked for and reported. */
async function reportPart(name: string) {
  const { id: deviceId } = await admin.call(api.devices.create, { name });
  const { token } = await admin.call(api.deviceTokens.create, { deviceId });
  const agent = await sayHello(cloud, { deviceId, token: token!, takesCuts: true });
  const kind = { version: "v", encoding: "json", schemaName: "s", schemaEncoding: "", schemaSha256: "0".repeat(64) };
  const topics = ["/imu", "/camera"].map((topic) => ({ ...kind, topic, messageCount: 3 }));
  await agent.report([recordingItem({ topics })]);
  const [whole] = await admin.call(api.recordings.list, { deviceId });
  const { cuts } = await admin.call(api.recordings.requestImport, { keyOrId: whole!.id, topics: ["/imu"] });
  const requestId = cuts![0]!.id;
  const metadata = [{ name: CUT_RECORD_NAME, metadata: { requestId } }];
  await agent.report([recordingItem({ path: `.downlink-cuts/${requestId}/a.mcap`, metadata })]);
  const { recordingId } = await prisma.cut.findUniqueOrThrow({ where: { id: requestId } });
  return { deviceId, agent, whole: whole!.id, part: recordingId!, requestId };
}

/** Stores of a recording what its import leaves. */
const complete = (id: string) =>
  prisma.recording.update({ where: { id }, data: { importStatus: "complete", blobKey: `stored-${id}` } });

const exportOf = (selection: object) =>
  admin.call(api.exports.create, {
    start: START_NS,
    end: START_NS + 10_000_000_000n,
    requireComplete: true,
    ...selection,
  });

test("an export is complete where imported parts hold all of it, and no part of what is asked for lies elsewhere", async () => {
  const { deviceId, whole, part } = await reportPart("held");
  await complete(part);
  assert.equal((await exportOf({ deviceId, topics: ["/imu"] })).missing, undefined);
  await assert.rejects(exportOf({ deviceId }), refusedWith("Incomplete"));
  const { id: sessionId } = await admin.call(api.sessions.create, { key: "drive", recordingIds: [whole] });
  await assert.rejects(exportOf({ sessionId, topics: ["/imu"] }), refusedWith("NoStreamableRecordings"));
});

test("what is imported of a recording does not count where the selection leaves it out", async () => {
  const { agent, whole, part } = await reportPart("elsewhere");
  const { cuts } = await admin.call(api.recordings.requestImport, { keyOrId: whole, topics: ["/camera"] });
  const metadata = [{ name: CUT_RECORD_NAME, metadata: { requestId: cuts![0]!.id } }];
  await agent.report([recordingItem({ path: `.downlink-cuts/${cuts![0]!.id}/a.mcap`, metadata })]);
  const other = await prisma.cut.findUniqueOrThrow({ where: { id: cuts![0]!.id } });
  await complete(part);
  await complete(other.recordingId!);
  const { id: sessionId } = await admin.call(api.sessions.create, { key: "one of two", recordingIds: [whole, part] });
  assert.equal((await exportOf({ sessionId, topics: ["/imu"] })).missing, undefined);
  await assert.rejects(exportOf({ sessionId }), refusedWith("Incomplete"));
});

test("the latest messages before the window are missing where no imported part reaches back", async () => {
  const { agent, deviceId, whole } = await reportPart("replayed");
  const start = START_NS + 5_000_000_000n;
  const { cuts } = await admin.call(api.recordings.requestImport, { keyOrId: whole, topics: ["/camera"], start });
  const metadata = [{ name: CUT_RECORD_NAME, metadata: { requestId: cuts![0]!.id } }];
  await agent.report([recordingItem({ start, path: `.downlink-cuts/${cuts![0]!.id}/a.mcap`, metadata })]);
  const { recordingId } = await prisma.cut.findUniqueOrThrow({ where: { id: cuts![0]!.id } });
  await complete(recordingId!);
  const selection = { deviceId, topics: ["/camera"], start };
  assert.equal((await exportOf(selection)).missing, undefined);
  await assert.rejects(exportOf({ ...selection, replayPolicy: "lastPerChannel" }), refusedWith("Incomplete"));
});

test("parts of a recording that is here are not missing, however their import ended", async () => {
  const { deviceId, whole, part } = await reportPart("whole");
  await complete(whole);
  assert.equal((await exportOf({ deviceId })).missing, undefined);
  await prisma.recording.update({ where: { id: part }, data: { importStatus: "failed", failureCode: "X" } });
  assert.equal((await exportOf({ deviceId })).missing, undefined);
});

test("a part whose import failed goes when it is asked for again, and leaves no recording that is missing for ever", async () => {
  const { agent, whole, part, requestId, deviceId } = await reportPart("again");
  await prisma.recording.update({ where: { id: part }, data: { importStatus: "failed", failureCode: "X" } });
  const { cuts } = await admin.call(api.recordings.requestImport, { keyOrId: whole, topics: ["/imu"] });
  assert.notEqual(cuts![0]!.id, requestId);
  const { versionId } = await prisma.edgeFile.findFirstOrThrow({ where: { recordingId: part } });
  await agent.report([], { removals: [versionId] });
  const left = await admin.call(api.recordings.list, { deviceId });
  assert.deepEqual(
    left.map(({ id }) => id),
    [whole],
  );
});
