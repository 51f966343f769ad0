import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, type CallInput, DAMAGE_HEADER, DataDamage, ErrorBody, MISSING_HEADER } from "@downlink/protocol";
import { eventually, makeMcap, readMessages, slowTest } from "@downlink/recordings/testing";
import { type Transaction, withTransaction } from "../../db/transaction.ts";
import { reindex } from "../../imports/ingest/reindex.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { overwriteObject } from "../../testing/stored-objects.ts";
import { uploadFile } from "../../testing/upload-file.ts";

const cloud = await startCloud({ after });
const { admin, deps } = cloud;
const { prisma } = deps.db;
let seed = 0;

/** Imports a recording for a device of its own, and returns its row. */
async function importFile(bytes: Uint8Array, filename = "drive.mcap") {
  seed += 1;
  const { recordingId } = await uploadFile(cloud, bytes, { filename, deviceName: `robot-${seed}` });
  return prisma.recording.findUniqueOrThrow({ where: { id: recordingId! } });
}

function makeFile(more: Parameters<typeof makeMcap>[0] = {}) {
  seed += 1;
  return makeMcap({ seed, durationSeconds: 1, chunkBytes: 20_000, ...more });
}

let sound: ReturnType<typeof importFile> | undefined;

/** Imports one recording for all tests that change nothing of it. */
function soundRecording() {
  sound ??= makeFile().then((bytes) => importFile(bytes));
  return sound;
}

async function ask(body: CallInput<typeof api.exports.create>) {
  const answer = await admin.call(api.exports.create, body);
  const response = await fetch(answer.link);
  return { answer, response, messages: readMessages(new Uint8Array(await response.arrayBuffer())) };
}

/** The attachment fails its checksum, and so does the data section; the chunks' checksums show that the messages are whole. */
async function makeDamaged() {
  const bytes = new Uint8Array(await makeFile({ attachments: [{ name: "notes", data: Buffer.alloc(5000, 3) }] }));
  return bytes.with(Buffer.from(bytes).indexOf(Buffer.alloc(5000, 3)) + 2000, 4);
}

test("an import stores a verified index beside the object, named in its row, and both are removed with the data", async () => {
  const { id, indexKey, blobKey, contentSha256 } = await importFile(await makeFile());
  assert.match(indexKey!, /^org_[^/]+\/idx_/);
  assert.ok(await deps.blobs.stat(indexKey!));
  assert.equal((await prisma.importRequest.findFirstOrThrow({ where: { recordingId: id } })).indexKey, null);
  assert.ok(contentSha256);
  await admin.call(api.recordings.delete, { keyOrId: id });
  for (const key of [indexKey!, blobKey!])
    await eventually(
      () => deps.blobs.stat(key),
      (found) => found === undefined,
    );
});

slowTest("a file that is refused, or is a duplicate, leaves no index", async () => {
  const bytes = await makeFile();
  const first = await importFile(bytes);
  const before = (await keys()).length;
  const deviceName = (await prisma.device.findUniqueOrThrow({ where: { id: first.deviceId! } })).name;
  const again = await uploadFile(cloud, bytes, { filename: "again.mcap", deviceName });
  assert.equal(again.recordingId, first.id);
  const refused = await uploadFile(cloud, new Uint8Array(bytes).fill(7, 900, 1000), { filename: "a.mcap", deviceName });
  assert.equal(refused.status, "error");
  await eventually(keys, (found) => found.length === before);
});

async function keys(): Promise<string[]> {
  const found: string[] = [];
  for await (const { key } of deps.blobs.list("")) if (key.includes("/idx_")) found.push(key);
  return found;
}

test("damage is reported with the recording, with the link and with the stream, also on HEAD", async () => {
  const { id } = await importFile(await makeDamaged());
  const sums = { chunksLost: 0, messagesLost: 0, isCountKnown: true, attachmentsLost: 1, bytesLost: 0 };
  const { damage } = await admin.call(api.recordings.get, { keyOrId: id });
  assert.deepEqual(
    { ...damage, reasons: damage!.reasons.map(({ code }) => code) },
    { ...sums, reasons: ["BadRecord", "BadRecord"] },
  );
  const { answer, response } = await ask({ recordingId: id });
  assert.deepEqual(answer.damage, damage);
  for (const headers of [response.headers, (await fetch(answer.link, { method: "HEAD" })).headers]) {
    assert.deepEqual(JSON.parse(headers.get(DAMAGE_HEADER)!), { ...sums, codes: ["BadRecord"] });
    assert.equal(
      headers.get("access-control-expose-headers"),
      `content-disposition, ${DAMAGE_HEADER}, ${MISSING_HEADER}`,
    );
  }
  const whole = await ask({ recordingId: (await soundRecording()).id });
  assert.deepEqual([whole.answer.damage, whole.response.headers.get(DAMAGE_HEADER)], [undefined, null]);
});

slowTest("the damage of several recordings is summed up", async () => {
  const deviceName = "robot-of-two";
  for (const bytes of [await makeDamaged(), await makeDamaged()])
    await uploadFile(cloud, bytes, { filename: "a.mcap", deviceName });
  const { answer } = await ask({ deviceName, start: 0n, end: 2n ** 62n });
  assert.deepEqual([answer.damage?.attachmentsLost, answer.damage?.reasons.length], [2, 4]);
});

test("topics that no selected recording has are named, and the others are exported", async () => {
  const { id } = await soundRecording();
  const { answer, messages } = await ask({ recordingId: id, topics: ["/imu", "/imv", "/gps2", "/imv"] });
  assert.deepEqual(answer.unknownTopics, ["/imv", "/gps2"]);
  assert.ok(messages.length > 0 && messages.every(({ topic }) => topic === "/imu"));
  const many = Array.from({ length: 300 }, (_, index) => `/none/${index}`);
  const linkTo = (given: string[]) => admin.call(api.exports.create, { recordingId: id, topics: given });
  assert.equal((await linkTo(many)).unknownTopics?.length, 100);
  assert.equal((await linkTo(["/imu"])).unknownTopics, undefined);
});

test("a recording without an index is exported all the same, and gets one from a job or from an operator", async () => {
  const bytes = await makeFile();
  const { id, indexKey } = await importFile(bytes);
  const forget = () => prisma.recording.update({ where: { id }, data: { indexKey: null, damage: null } });
  await forget();
  await deps.blobs.delete(indexKey!);
  assert.equal((await ask({ recordingId: id })).messages.length, readMessages(bytes).length);
  const find = () => prisma.recording.findUniqueOrThrow({ where: { id } });
  const made = await eventually(find, (row) => row.indexKey !== null);
  assert.equal(made.nextIndexKey, null);
  assert.ok(await deps.blobs.stat(made.indexKey!));
  assert.equal((await ask({ recordingId: id })).messages.length, readMessages(bytes).length);

  await forget();
  await prisma.recordingTopic.updateMany({ where: { recordingId: id }, data: { channelsKey: null } });
  const { signal } = new AbortController();
  const found = await Array.fromAsync(reindex(deps, { isForced: false, signal }));
  assert.deepEqual(found, [{ recordingId: id, outcome: "made" }]);
  assert.ok((await find()).indexKey);
  assert.equal(
    await prisma.recordingTopic.count({ where: { recordingId: id, channelsKey: null, messageCount: { gt: 0 } } }),
    0,
  );
  assert.deepEqual(await Array.fromAsync(reindex(deps, { isForced: false, signal })), []);
});

test("the index of a recording is queued once, however often it is exported", async () => {
  const { id, orgId } = await soundRecording();
  const jobs = (db: Transaction) => db.$queryRaw<{ state: string }[]>`
    SELECT state::text FROM pgboss.job WHERE name = 'index-recording' AND data->>'recordingId' = ${id}`;
  const waiting = await withTransaction(deps.db, async (tx) => {
    for (let count = 0; count < 3; count += 1) await deps.jobs.enqueueIndexing(tx, orgId, [id, id]);
    return jobs(tx);
  });
  assert.equal(waiting.length, 1);
  await eventually(
    () => jobs(prisma),
    (found) => found.every(({ state }) => state === "completed"),
  );
});

test("an index that is lost or damaged in the store costs time, and no message is lost", async () => {
  const bytes = await makeFile();
  const { id, indexKey } = await importFile(bytes);
  await overwriteObject(cloud.dataDir, indexKey!, Buffer.from("no index at all, whatever it was"));
  assert.equal((await ask({ recordingId: id })).messages.length, readMessages(bytes).length);
  await deps.blobs.delete(indexKey!);
  assert.equal((await ask({ recordingId: id })).messages.length, readMessages(bytes).length);
});

test("stored bytes that differ from those of the import end the connection, and no error names an object", async () => {
  const changed = await importFile(await makeFile({ compression: "" }));
  const linkOf = async (more: { compressionFormat?: "zstd" }) =>
    (await admin.call(api.exports.create, { recordingId: changed.id, ...more })).link;
  const bytes = Buffer.from(await makeFile({ compression: "" }));
  const size = Number(changed.sizeBytes);
  const other = Buffer.concat([bytes, Buffer.alloc(size)]).subarray(0, size);
  await overwriteObject(cloud.dataDir, changed.blobKey!, other);
  const link = await linkOf({ compressionFormat: "zstd" });
  const again = await linkOf({});
  await assert.rejects(async () => {
    const response = await fetch(link);
    if (response.status === 200) await response.arrayBuffer();
    else throw new Error(`answered ${response.status}`);
  });
  await overwriteObject(cloud.dataDir, changed.blobKey!, Buffer.concat([other, Buffer.from("more")]));
  const longer = await fetch(again);
  const { error } = ErrorBody.parse(await longer.json());
  assert.equal(longer.status, 500);
  assert.match(error, new RegExp(changed.id));
  assert.ok(!error.includes(changed.blobKey!.split("/")[1]!));
});

test("a link that was made before its data was deleted ends with the deletion, and the error names the recording", async () => {
  const { id, blobKey } = await importFile(await makeFile());
  const { link } = await admin.call(api.exports.create, { recordingId: id });
  await admin.call(api.recordings.delete, { keyOrId: id });
  await eventually(
    () => deps.blobs.stat(blobKey!),
    (found) => found === undefined,
  );
  const response = await eventually(
    () => fetch(link),
    ({ status }) => status !== 200,
  );
  const { error, code } = ErrorBody.parse(await response.json());
  assert.deepEqual([response.status, code], [404, "NotFound"]);
  assert.match(error, new RegExp(id));
  assert.ok(!error.includes(blobKey!.split("/")[1]!));
});

test("the stored damage fits the contract", () => {
  const shown = { chunksLost: 1, messagesLost: 2, isCountKnown: false, attachmentsLost: 0, bytesLost: 9, reasons: [] };
  assert.deepEqual(DataDamage.parse(shown), shown);
});
