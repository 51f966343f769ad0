import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, type CallInput } from "@downlink/protocol";
import { makeBag, makeMcap, readBagMessages, readMessages } from "@downlink/recordings/testing";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { uploadFile } from "../../testing/upload-file.ts";

const SECOND = 1_000_000_000n;
const START = 1_760_000_000n * SECOND;
const cloud = await startCloud({ after });
const { admin } = cloud;

/** Recordings of 2 s, one every 10 s, of one device; the first two are in a session. */
const files = await Promise.all(
  [0n, 1n, 2n].map((number) =>
    makeMcap({ startNs: START + number * 10n * SECOND, durationSeconds: 2, seed: Number(number) }),
  ),
);
const messagesOf = files.map((bytes) => readMessages(bytes));
const recordingIds: string[] = [];
for (const [number, bytes] of files.entries()) {
  const sessionKey = number < 2 ? "tour" : undefined;
  const { recordingId } = await uploadFile(cloud, bytes, {
    filename: `${number}.mcap`,
    deviceName: "robot",
    sessionKey,
  });
  recordingIds.push(recordingId!);
}
const { id: deviceId, projectId } = await admin.call(api.devices.get, { nameOrId: "robot" });

type Body = CallInput<typeof api.exports.create>;

async function download(body: Body): Promise<Uint8Array> {
  const { link } = await admin.call(api.exports.create, body);
  const response = await fetch(link);
  assert.equal(response.status, 200);
  return new Uint8Array(await response.arrayBuffer());
}

async function exported(body: Body): Promise<string[]> {
  return readMessages(await download(body)).map(toText);
}

async function bagLines(bag: Uint8Array): Promise<string[]> {
  return (await readBagMessages(bag)).map(
    ({ logTimeNs, topic, data }) => `${logTimeNs} ${topic} ${Buffer.from(data).toString("base64")}`,
  );
}

function toText({ topic, logTimeNs, data }: ReturnType<typeof readMessages>[number]): string {
  return `${logTimeNs} ${topic} ${Buffer.from(data).toString("base64")}`;
}

/** Computes the result by slow and obvious extraction. */
function expected(numbers: readonly number[], [startNs, endNs]: [bigint, bigint] = [0n, 2n ** 63n - 1n]): string[] {
  const messages = numbers.flatMap((number) => messagesOf[number]!);
  const within = messages.filter(({ logTimeNs }) => logTimeNs >= startNs && logTimeNs <= endNs);
  return within.sort((one, other) => Number(one.logTimeNs - other.logTimeNs)).map(toText);
}

function refused(body: Body, code: string, word: string) {
  return assert.rejects(admin.call(api.exports.create, body), refusedWith(code, word));
}

test("a session, by id or key, exports the messages of all of its recordings in the order of log time", async () => {
  const [session] = await admin.call(api.sessions.list, {});
  const all = expected([0, 1]);
  assert.deepEqual(await exported({ sessionKey: "tour", projectId }), all);
  assert.deepEqual(await exported({ sessionId: session!.id }), all);
  const start = START + 1n * SECOND;
  assert.deepEqual(await exported({ sessionKey: "tour", start }), expected([0, 1], [start, 2n ** 63n - 1n]));
});

test("a device with start and end, both inclusive, exports what its recordings hold there", async () => {
  const [start, end] = [START + 1n * SECOND, START + 21n * SECOND];
  const found = await exported({ deviceName: "robot", start, end });
  assert.deepEqual(found, expected([0, 1, 2], [start, end]));
  assert.deepEqual(
    await exported({ deviceId, start, end, topics: ["/imu"] }),
    found.filter((text) => text.includes(" /imu ")),
  );
});

test('all three of a device, start and end: "if `start` is given `end` must be too"', async () => {
  await refused({ deviceId }, "InvalidRequest", "start");
  await refused({ deviceId, start: START }, "InvalidRequest", "end");
  await refused({ deviceId, end: START }, "InvalidRequest", "start");
  await refused({ deviceId, start: START + 1n, end: START }, "InvalidRequest", "after");
});

test("nothing imported in the range of a device is 404; in the range of a recording it is a valid empty file", async () => {
  const [start, end] = [START + 5n * SECOND, START + 6n * SECOND];
  await refused({ deviceId, start, end }, "NoStreamableRecordings", "");
  assert.deepEqual(await exported({ recordingId: recordingIds[0]!, start, end }), []);
  assert.deepEqual(await exported({ sessionKey: "tour", projectId, start, end }), []);
});

test("an episode exports its span of its recordings, narrowed by start and end", async () => {
  const [startTime, endTime] = [START + 1n * SECOND, START + 11n * SECOND];
  const item = { recordings: recordingIds.slice(0, 2), startTime, endTime };
  const { episodes } = await admin.call(api.episodes.getOrCreate, { projectId, episodes: [item] });
  const episodeId = episodes[0]!.id;
  assert.deepEqual(await exported({ episodeId }), expected([0, 1], [startTime, endTime]));
  const start = START + 2n * SECOND;
  assert.deepEqual(await exported({ episodeId, start, end: endTime + SECOND }), expected([0, 1], [start, endTime]));
});

test("lastPerChannel begins with the latest earlier message of each channel, from earlier recordings of the device too", async () => {
  const [start, end] = [START + 10n * SECOND, START + 12n * SECOND];
  const latest = new Map(expected([0]).map((text) => [text.split(" ")[1], text]));
  const found = await exported({ deviceId, start, end, replayPolicy: "lastPerChannel" });
  const within = expected([1], [start, end]);
  assert.deepEqual(found.slice(-within.length), within);
  assert.deepEqual(found.slice(0, -within.length).sort(), [...latest.values()].sort());
  const near = await exported({ deviceId, start, end, replayPolicy: "lastPerChannel", replayLookbackSeconds: 1 });
  assert.deepEqual(near, within);
});

test("attachments are exported only with a single recording", async () => {
  await refused({ sessionKey: "tour", projectId, includeAttachments: true }, "InvalidRequest", "includeAttachments");
});

test('`bag1` is exported "only for recordings uploaded as `.bag`": 400 for others, and for zstd', async () => {
  const recordingId = recordingIds[0]!;
  const [start, end] = [START + 5n * SECOND, START + 6n * SECOND];
  await refused({ recordingId, outputFormat: "bag1" }, "BagUnavailable", recordingId);
  await refused({ recordingId, outputFormat: "bag1", start, end }, "BagUnavailable", recordingId);
  await refused({ recordingId, outputFormat: "bag1", compressionFormat: "zstd" }, "BagUnavailable", recordingId);
  const bag = await makeBag({ startNs: START + 100n * SECOND, compression: "none" });
  const imported = await uploadFile(cloud, bag, { filename: "a.bag", deviceName: "ros-robot", sessionKey: "mixed" });
  const bagId = imported.recordingId!;
  await refused({ recordingId: bagId, outputFormat: "bag1", compressionFormat: "zstd" }, "InvalidRequest", "zstd");
  for (const compressionFormat of ["", "lz4"] as const) {
    const bytes = await download({ recordingId: bagId, outputFormat: "bag1", compressionFormat, topics: ["/status"] });
    assert.deepEqual(
      await bagLines(bytes),
      (await bagLines(bag)).filter((line) => line.includes(" /status ")),
    );
  }
  assert.deepEqual(await bagLines(await download({ recordingId: bagId, outputFormat: "bag1", start, end })), []);
});

test("a selection too large for a link is stored as an object, and works as well", async () => {
  const topics = ["/imu", ...Array.from({ length: 3000 }, (_, number) => `/camera_${number * 7919}/image`)];
  const { link } = await admin.call(api.exports.create, { sessionKey: "tour", projectId, topics });
  assert.ok(link.length < 1000, `${link.length} characters`);
  const bytes = new Uint8Array(await (await fetch(link)).arrayBuffer());
  assert.deepEqual(
    readMessages(bytes).map(toText),
    expected([0, 1]).filter((text) => text.includes(" /imu ")),
  );
});

test("another organization cannot export any of it: 404", async () => {
  const other = await cloud.otherOrganization();
  for (const body of [
    { recordingId: recordingIds[0]! },
    { sessionKey: "tour" },
    { deviceId, start: START, end: START },
  ])
    await assert.rejects(other.call(api.exports.create, body), refusedWith(404));
});

test("a link to one recording by its id takes two statements, and none through Prisma", async (t) => {
  const { pool } = cloud.deps.db;
  const [asked, connected] = [t.mock.method(pool, "query"), t.mock.method(pool, "connect")];
  const body = { recordingId: recordingIds[0]!, start: START, end: START + SECOND };
  const { link } = await admin.call(api.exports.create, body);
  const texts = asked.mock.calls.map(({ arguments: [given] }) => (given as unknown as { text: string }).text);
  const ofCall = texts.filter((text) => /"(Recording|Organization)"/.test(text) && !text.includes("Credential"));
  assert.equal(ofCall.length, 2, texts.join("\n"));
  assert.equal(connected.mock.callCount(), texts.length, "each statement takes a connection, and nothing else does");
  t.mock.restoreAll();
  const bytes = new Uint8Array(await (await fetch(link)).arrayBuffer());
  assert.deepEqual(readMessages(bytes).map(toText), expected([0], [START, START + SECOND]));
});

test("an export of one recording by its id has nothing outside of the window, and a recording that is not imported is refused", async () => {
  const outside = { recordingId: recordingIds[0]!, start: START + 5n * SECOND, end: START + 6n * SECOND };
  assert.deepEqual(await exported(outside), []);
  await assert.rejects(admin.call(api.exports.create, { recordingId: "rec_none" }), refusedWith("NotFound"));
  const other = await cloud.otherOrganization();
  await assert.rejects(
    other.call(api.exports.create, { recordingId: recordingIds[0]! }),
    refusedWith("NotFound", recordingIds[0]!),
  );
  const where = { id: recordingIds[2]! };
  await cloud.deps.db.prisma.recording.update({ where, data: { importStatus: "failed" } });
  const refused = admin.call(api.exports.create, { recordingId: recordingIds[2]! });
  await assert.rejects(refused, refusedWith("NoStreamableRecordings"));
  await cloud.deps.db.prisma.recording.update({ where, data: { importStatus: "complete" } });
});
