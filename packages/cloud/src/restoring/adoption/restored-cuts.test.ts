import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import { api, CUT_RECORD_NAME } from "@downlink/protocol";
import { makeMcap } from "@downlink/recordings/testing";
import { withTransaction } from "../../db/transaction.ts";
import { ingest } from "../../imports/ingest/pipeline.ts";
import { reindexRecording } from "../../imports/ingest/reindex-recording.ts";
import { openIncarnation } from "../../recovery/incarnations.ts";
import { copyDatabase } from "../../testing/database-copies.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { deliver, recordingItem, sayHello, type TestAgent } from "../../testing/test-agent.ts";
import { walkStore } from "./walk.ts";

const SECOND_NS = 1_000_000_000n;
const START_NS = 1000n * SECOND_NS;
const PART = { topics: ["/imu"], start: START_NS + SECOND_NS, end: START_NS + 3n * SECOND_NS };

const cloud = await startCloud({ after }, { works: false });
const { admin, deps } = cloud;
const { prisma } = deps.db;
const never = new AbortController().signal;
const emptyDatabase = await copyDatabase(deps.db);

beforeEach(async () => {
  await emptyDatabase();
  for await (const { key } of deps.blobs.list("")) await deps.blobs.delete(key);
  for await (const { key } of deps.blobs.listNotes("manifests/")) await deps.blobs.removeNote(key);
});

/** Reports a recording on a device of its own. */
async function reportWhole(name: string) {
  const { id: deviceId } = await admin.call(api.devices.create, { name });
  const { token } = await admin.call(api.deviceTokens.create, { deviceId });
  const agent = await sayHello(cloud, { deviceId, token: token!, takesCuts: true });
  const kind = { version: "v", encoding: "json", schemaName: "s", schemaEncoding: "", schemaSha256: "0".repeat(64) };
  const item = recordingItem({ topics: ["/imu", "/camera"].map((topic) => ({ ...kind, topic, messageCount: 3 })) });
  await agent.report([item]);
  const [whole] = await admin.call(api.recordings.list, { deviceId });
  return { agent, item, whole: whole!.id };
}

async function askForPart(whole: string): Promise<string> {
  const { cuts } = await admin.call(api.recordings.requestImport, { keyOrId: whole, ...PART });
  return cuts![0]!.id;
}

/** Returns what an agent writes into the file of a cut. */
function recordOf(requestId: string, versionId: string, more: Record<string, string> = {}): Record<string, string> {
  const part = { topics: JSON.stringify(PART.topics), startNs: `${PART.start}`, endNs: `${PART.end}` };
  return { requestId, versionId, path: "run.mcap", sizeBytes: "1000", ...part, agentVersion: "1", ...more };
}

/** Reports and delivers a file with such a record. Returns the id of its recording. */
async function sendFile(agent: TestAgent, record: Record<string, string>, isIndexed = true): Promise<string> {
  const metadata = [{ name: CUT_RECORD_NAME, metadata: record }];
  const bytes = await makeMcap({ startNs: PART.start, durationSeconds: 1, metadata });
  const item = recordingItem({ path: `.downlink-cuts/${record.requestId}/a.mcap`, metadata, size: bytes.byteLength });
  await agent.report([item]);
  const [recording] = await admin.call(api.recordings.list, { path: item.path });
  const { id } = recording!;
  await admin.call(api.recordings.requestImport, { keyOrId: id });
  const requestId = await deliver(agent, item, bytes);
  if (isIndexed) await ingest(deps, requestId, never);
  return id;
}

/** Compares the store with the database, and runs everything that waits, as a worker does. */
async function recover(): Promise<void> {
  await withTransaction(deps.db, (tx) => openIncarnation(tx, { reason: "a test", nowNs: deps.clock.nowNs() }));
  await walkStore({ ...deps, replayLedger: async () => undefined }, never);
  for (const { id } of await prisma.importRequest.findMany({ where: { state: "received" } }))
    await ingest(deps, id, never);
  for (const { id } of await prisma.recording.findMany({ where: { isUnverified: true } }))
    await reindexRecording(deps, { recordingId: id, signal: never });
}

const shown = async (keyOrId: string) => {
  const { importStatus, cutOf, cuts } = await admin.call(api.recordings.get, { keyOrId });
  return { importStatus, cutOf, cuts: cuts?.map(({ id, recordingId }) => ({ id, recordingId })) };
};

for (const [moment, isAsked, isIndexed] of [
  ["before the part was asked for", false, true],
  ["before the part was made", true, true],
  ["before a part was asked for that is received, but not indexed", false, false],
] as const)
  test(`a part is one of its recording again after the database was set back to ${moment}`, async () => {
    const { agent, item, whole } = await reportWhole("rover");
    const before = await copyDatabase(deps.db);
    const requestId = await askForPart(whole);
    const asked = await copyDatabase(deps.db);
    const part = await sendFile(agent, recordOf(requestId, item.versionId), isIndexed);
    if (isIndexed) assert.deepEqual((await shown(part)).cutOf, { recordingId: whole, ...PART });

    await (isAsked ? asked : before)();
    await recover();
    const cutOf = { recordingId: whole, ...PART };
    assert.deepEqual(await shown(part), { importStatus: "complete", cutOf, cuts: undefined });
    assert.deepEqual((await shown(whole)).cuts, [{ id: requestId, recordingId: part }]);
    const { work } = await (await sayHello(cloud, agent)).call(api.edge.work, {});
    assert.deepEqual(work.cuts, [], "it is not asked for again");
  });

test("a part is one of its recording again that is in the store too, and that the database has lost", async () => {
  const { agent, item, whole } = await reportWhole("lost");
  const requestId = await askForPart(whole);
  const part = await sendFile(agent, recordOf(requestId, item.versionId));
  await admin.call(api.recordings.requestImport, { keyOrId: whole });
  const bytes = await makeMcap({ startNs: START_NS, durationSeconds: 5 });
  await agent.report([{ ...item, size: bytes.byteLength }]);
  await ingest(deps, await deliver(agent, { ...item, size: bytes.byteLength }, bytes), never);

  await emptyDatabase();
  await recover();
  assert.deepEqual((await shown(part)).cutOf, { recordingId: whole, ...PART });
});

test("a file that names another device's recording, another part's request or no valid part is no part after a restore", async () => {
  const { agent, item, whole } = await reportWhole("victim");
  const other = await reportWhole("other");
  const wanted = await askForPart(whole);
  const before = await copyDatabase(deps.db);
  const own = (number: number) => `cut_${`${number}`.padStart(26, "0")}`;
  const claims = [
    recordOf(own(1), item.versionId), // the recording is another device's
    recordOf(wanted, other.item.versionId), // the request is another device's
    recordOf(own(2), "a version that is not known"),
    recordOf("../../etc", other.item.versionId),
    recordOf(own(3), other.item.versionId, { topics: '["/imu\\u0000"]' }),
    recordOf(own(4), other.item.versionId, { topics: "[" }),
    recordOf(own(5), other.item.versionId, { startNs: "9223372036854775808" }),
    recordOf(own(6), other.item.versionId, { startNs: `${PART.end}`, endNs: `${PART.start}` }),
    recordOf(own(7), other.item.versionId, { versionId: "\0" }),
  ];
  const sent: string[] = [];
  for (const claim of claims) sent.push(await sendFile(other.agent, claim));
  const [cut] = await prisma.cut.findMany();

  await before();
  await recover();
  for (const [number, id] of sent.entries()) {
    const { importStatus, cutOf } = await shown(id);
    assert.deepEqual([importStatus, cutOf], ["complete", undefined], `claim ${number}`);
  }
  assert.deepEqual(await prisma.cut.findMany(), [cut], "the request of the other device waits as before");
  const { work } = await (await sayHello(cloud, agent)).call(api.edge.work, {});
  assert.equal(work.cuts?.length, 1);
});
