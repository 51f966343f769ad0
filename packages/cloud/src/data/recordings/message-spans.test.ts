import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { api, coverageBits, type ErrorBody } from "@downlink/protocol";
import { field2Folder, jumpedSpans, makeClockJump, readMessages, skipWithout } from "@downlink/recordings/testing";
import { reindexRecording } from "../../imports/ingest/reindex-recording.ts";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { recordingItem, startAgent } from "../../testing/test-agent.ts";
import { uploadFile } from "../../testing/upload-file.ts";

const SECOND = 1_000_000_000n;
const YEAR = 365n * 86_400n * SECOND;
const cloud = await startCloud({ after });
const { admin } = cloud;
const { prisma } = cloud.deps.db;

/** Both ends of a year, roughly. */
const yearOf = (year: number) => ({ start: BigInt(year - 1970) * YEAR, end: BigInt(year - 1969) * YEAR });
const within = { start: 0n, end: 100n * YEAR };
const [in1970, in2026] = jumpedSpans;
const ranges = jumpedSpans.map(({ startNs, endNs }) => ({ start: startNs, end: endNs }));
/** 2026-01-01T20:40:00Z and the months around it. */
const year2026 = { start: in2026.startNs - YEAR / 2n, end: in2026.startNs + YEAR / 2n };

/** Counts a device's recordings in the window in each order, and lists its coverage there. */
async function findIn(deviceId: string, window: { start: bigint; end: bigint }) {
  const query = { deviceId, ...window };
  const lists = await Promise.all(
    (["createdAt", "start", "end", "duration", "path", "importedAt", "deviceName"] as const).map((sortBy) =>
      admin.call(api.recordings.list, { ...query, sortBy }),
    ),
  );
  const coverage = await admin.call(api.coverage.list, { ...query, includeEdgeRecordings: true });
  const { count } = await admin.call(api.recordings.summarize, query);
  const counts = new Set([count, ...lists.map((list) => list.length)]);
  assert.equal(counts.size, 1, `the lists and the sums agree: ${[...counts]}`);
  return { recordings: count, coverage: coverage.map(({ start, end }) => ({ start, end })) };
}

async function uploadJump(deviceName: string, bytes?: Uint8Array, sessionKey?: string) {
  const body = { filename: `${deviceName}.mcap`, deviceName, sessionKey };
  const { recordingId } = await uploadFile(cloud, bytes ?? (await makeClockJump()), body);
  const recording = await admin.call(api.recordings.get, { keyOrId: recordingId! });
  return { ...recording, deviceId: recording.device!.id };
}

async function reportJump(name: string) {
  const agent = await startAgent(cloud, name);
  await agent.report([recordingItem({ start: in1970.startNs, end: in2026.endNs, spans: ranges })]);
  return agent.deviceId;
}

async function requireSpans(deviceId: string): Promise<void> {
  assert.deepEqual(await findIn(deviceId, within), { recordings: 1, coverage: ranges });
  assert.deepEqual(await findIn(deviceId, yearOf(1970)), { recordings: 1, coverage: ranges.slice(0, 1) });
  assert.deepEqual(await findIn(deviceId, year2026), { recordings: 1, coverage: ranges.slice(1) });
  assert.deepEqual(await findIn(deviceId, yearOf(2000)), { recordings: 0, coverage: [] });
  assert.deepEqual(await findIn(deviceId, { start: in1970.endNs, end: in1970.endNs }), {
    recordings: 1,
    coverage: ranges.slice(0, 1),
  });
  const between = { start: in1970.endNs + 1n, end: in2026.startNs - 1n };
  assert.deepEqual(await findIn(deviceId, between), { recordings: 0, coverage: [] });
}

test("a recording whose clock jumped is found where its messages are, if it was uploaded", async () => {
  const { deviceId, start, end } = await uploadJump("uploaded");
  assert.deepEqual([start, end], [in1970.startNs, in2026.endNs]);
  await requireSpans(deviceId);
});

test("the one of the field is, too", { skip: skipWithout(field2Folder) }, async () => {
  const { deviceId } = await uploadJump("field", await readFile(join(field2Folder, "i_clock_jump.mcap")));
  await requireSpans(deviceId);
});

test("so is one that an agent reports; without spans it is found everywhere between its start and end", async () => {
  await requireSpans(await reportJump("reported"));
  const old = await startAgent(cloud, "old-agent");
  await old.report([recordingItem({ start: in1970.startNs, end: in2026.endNs })]);
  const whole = [{ start: in1970.startNs, end: in2026.endNs }];
  assert.deepEqual(await findIn(old.deviceId, yearOf(2000)), { recordings: 1, coverage: whole });
});

test("one that an earlier version imported gets its spans when it is indexed again", async () => {
  const { id, deviceId } = await uploadJump("indexed-again");
  await prisma.recordingSpan.deleteMany({ where: { recordingId: id } });
  assert.equal((await findIn(deviceId, yearOf(2000))).recordings, 1);
  const { signal } = new AbortController();
  assert.equal(await reindexRecording(cloud.deps, { recordingId: id, isForced: true, signal }), "made");
  await requireSpans(deviceId);
});

test("spans that are not those of the recording are refused", async () => {
  const agent = await startAgent(cloud, "liar");
  const [first, second] = ranges as [(typeof ranges)[0], (typeof ranges)[0]];
  const wrong = [
    [second, first],
    [first, { ...second, end: second.end - 1n }],
    [{ ...first, end: second.start - 3600n * SECOND }, second],
    [first],
  ];
  for (const spans of wrong) {
    const item = recordingItem({ start: first.start, end: second.end, spans });
    await assert.rejects(agent.report([item]), /spans/);
  }
});

test("a range counts each recording once, even if the tolerance joins its spans", async () => {
  const agent = await startAgent(cloud, "counted");
  const [start, end] = [in2026.startNs, in2026.startNs + 10n * 3600n * SECOND];
  const spans = [
    { start, end: start + SECOND },
    { start: end - SECOND, end },
  ];
  await agent.report([recordingItem({ start, end, spans })]);
  const query = { ...within, deviceId: agent.deviceId, includeEdgeRecordings: true };
  const counts = async (tolerance: number) =>
    (await admin.call(api.coverage.list, { ...query, tolerance })).map(({ recordingCount }) => recordingCount);
  assert.deepEqual([await counts(14), await counts(40_000)], [[1, 1], [1]]);
});

test("the grid shows its spans, and counts it once", async () => {
  const deviceId = await reportJump("grid");
  /** The most that a bin may be long, and still a safe integer of nanoseconds, is 104 days. */
  const BIN = 100n * 86_400n * SECOND;
  const grid = async (start: bigint, bins = 210) => {
    const query = { start, binNs: Number(BIN), bins, deviceIds: [deviceId] };
    const [row] = (await admin.call(api.coverage.grid, query)).devices;
    const cells = [...Buffer.from(row!.cells, "base64")];
    const covered = cells.flatMap((cell, bin) => (cell & coverageBits.edgeOnly ? [bin] : []));
    return { covered, seconds: row!.coveredSeconds, ...row!.edgeOnly };
  };
  const last = Number(in2026.startNs / BIN);
  const sums = { recordings: 1, bytes: 1000 };
  assert.deepEqual(await grid(0n), {
    covered: [0, last],
    seconds: 11.800000002,
    ...sums,
    coveredSeconds: 11.800000002,
  });
  assert.deepEqual(await grid(BIN), {
    covered: [last - 1],
    seconds: 5.900000001,
    ...sums,
    coveredSeconds: 5.900000001,
  });
  assert.deepEqual(await grid(-BIN, 100), { covered: [1], seconds: 5.900000001, ...sums, coveredSeconds: 5.900000001 });
  assert.deepEqual(await grid(BIN, 100), { covered: [], seconds: 0, recordings: 0, bytes: 0, coveredSeconds: 0 });
});

test("beside a window without data lies the nearest span, or the nearest recording", async () => {
  const agent = await startAgent(cloud, "beside");
  await agent.report([recordingItem({ start: in1970.startNs, end: in2026.endNs, spans: ranges })]);
  const { start, end } = yearOf(2000);
  const beside = async () => {
    const query = { deviceId: agent.deviceId, start, end, includeEdgeRecordings: true };
    const { previous, next } = await admin.call(api.coverage.span, query);
    return [previous, next];
  };
  assert.deepEqual(await beside(), [in1970.endNs, in2026.startNs]);
  await agent.report([recordingItem({ start: start - 20n * SECOND }), recordingItem({ start: end + SECOND })]);
  assert.deepEqual(await beside(), [start - 10n * SECOND, end + SECOND]);
});

test("topics and sessions are listed by its spans", async () => {
  const { deviceId, projectId } = await uploadJump("in-a-session", undefined, "drive");
  const topicsIn = async (window: { start: bigint; end: bigint }) => [
    (await admin.call(api.topics.list, { deviceId, ...window })).length,
    (await admin.call(api.topics.list, { sessionKey: "drive", projectId, ...window })).length,
    (await admin.call(api.sessions.list, { deviceId, ...window })).length,
  ];
  assert.deepEqual(await topicsIn(yearOf(1970)), [1, 1, 1]);
  assert.deepEqual(await topicsIn(year2026), [1, 1, 1]);
  assert.deepEqual(await topicsIn(yearOf(2000)), [0, 0, 0]);
});

test("an export of a year without its messages says that nothing is selected", async () => {
  const { deviceId, id } = await uploadJump("exported");
  const exported = async (body: object) => {
    const { link } = await admin.call(api.exports.create, body);
    return readMessages(new Uint8Array(await (await fetch(link)).arrayBuffer())).length;
  };
  assert.equal(await exported({ deviceId, ...yearOf(1970) }), 60);
  assert.equal(await exported({ deviceId, ...year2026 }), 60);
  assert.equal(await exported({ deviceId, ...within }), 120);
  await assert.rejects(
    admin.call(api.exports.create, { deviceId, ...yearOf(2000) }),
    refusedWith("NoStreamableRecordings" satisfies ErrorBody["code"]),
  );
  assert.equal(await exported({ recordingId: id, ...yearOf(2000) }), 0, "a named recording makes an empty file");
  const atEdge = await reportJump("exported-from-the-edge");
  await assert.rejects(
    admin.call(api.exports.create, { deviceId: atEdge, ...yearOf(2000) }),
    refusedWith("NoStreamableRecordings"),
  );
  const { missing } = await admin.call(api.exports.create, { deviceId, ...within });
  assert.equal(missing, undefined);
});

test("an event between its spans has no recording, and no episode can be made of it", async () => {
  const { deviceId, projectId } = await uploadJump("with-events");
  const episodeOf = async (start: bigint) => {
    const event = await admin.call(api.events.create, { deviceId, start, end: start + SECOND });
    return admin.call(api.episodes.getOrCreate, { projectId, episodes: [{ eventId: event.id }] });
  };
  assert.equal((await episodeOf(in2026.startNs)).episodes.length, 1);
  assert.equal((await episodeOf(in1970.startNs)).episodes.length, 1);
  await assert.rejects(episodeOf(yearOf(2000).start), refusedWith("InvalidRequest", /has none/));
});

test("its spans are deleted with it", async () => {
  const { id } = await uploadJump("deleted");
  const countSpans = () => prisma.recordingSpan.count({ where: { recordingId: id } });
  assert.equal(await countSpans(), 2);
  await admin.call(api.recordings.delete, { keyOrId: id });
  assert.equal(await countSpans(), 0);
});
