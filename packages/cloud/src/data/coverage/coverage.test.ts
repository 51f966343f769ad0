import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, type CallInput } from "@downlink/protocol";
import { slowTest } from "@downlink/recordings/testing";
import type { Prisma } from "../../db/generated/client.ts";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { recordingItem, startAgent } from "../../testing/test-agent.ts";

const SECOND = 1_000_000_000n;
const EPOCH = 1_700_000_000n * SECOND;
const cloud = await startCloud({ after }, { works: false });
const { admin } = cloud;
const ALL = { start: -4_000_000_000n * SECOND, end: 4_000_000_000n * SECOND, includeEdgeRecordings: true };

type Span = readonly [startSeconds: number, endSeconds: number];

const at = (seconds: number) => EPOCH + BigInt(seconds) * SECOND;
const list = (query: Partial<CallInput<typeof api.coverage.list>>) =>
  admin.call(api.coverage.list, { ...ALL, ...query });

async function change(id: string, data: Prisma.RecordingUncheckedUpdateInput): Promise<void> {
  await cloud.deps.db.prisma.recording.update({ where: { id }, data });
}

/** Creates a device whose agent has reported recordings of these times. */
async function deviceWith(name: string, spans: readonly Span[], key?: string) {
  const agent = await startAgent(cloud, name);
  const items = spans.map(([from, to]) => recordingItem({ start: at(from), end: at(to), key }));
  await agent.report(items);
  return agent;
}

async function rangesOf(deviceId: string, more: { tolerance?: number; start?: bigint; end?: bigint } = {}) {
  const ranges = await admin.call(api.coverage.list, { ...ALL, deviceId, ...more });
  return ranges.map((range) => [
    Number((range.start - EPOCH) / SECOND),
    Number((range.end - EPOCH) / SECOND),
    range.recordingCount,
  ]);
}

test("recordings whose gap is at most the tolerance merge; below 14 seconds it counts as 14", async () => {
  const { deviceId } = await deviceWith("gaps", [
    [0, 10],
    [24, 30],
    [45, 50],
    [200, 210],
  ]);
  assert.deepEqual(await rangesOf(deviceId), [
    [0, 30, 2],
    [45, 50, 1],
    [200, 210, 1],
  ]);
  assert.deepEqual(await rangesOf(deviceId, { tolerance: 0 }), await rangesOf(deviceId));
  assert.deepEqual(await rangesOf(deviceId, { tolerance: 15 }), [
    [0, 50, 3],
    [200, 210, 1],
  ]);
});

test("a recording inside a longer one does not end the range", async () => {
  const { deviceId } = await deviceWith("nested", [
    [0, 100],
    [10, 20],
    [110, 120],
  ]);
  assert.deepEqual(await rangesOf(deviceId), [[0, 120, 3]]);
});

test("ranges are not clipped to the query window, whose ends are inclusive", async () => {
  const { deviceId } = await deviceWith("window", [
    [0, 10],
    [100, 110],
  ]);
  assert.deepEqual(await rangesOf(deviceId, { start: at(10), end: at(50) }), [[0, 10, 1]]);
  assert.deepEqual(await rangesOf(deviceId, { start: at(11), end: at(100) }), [[100, 110, 1]]);
  assert.deepEqual(await rangesOf(deviceId, { start: at(11), end: at(99) }), []);
  assert.deepEqual(await rangesOf(deviceId, { start: at(5), end: at(5) }), [[0, 10, 1]]);
});

test("a recording outside of the window neither extends a range nor joins two", async () => {
  const { deviceId } = await deviceWith("beside", [
    [0, 10],
    [15, 20],
    [25, 30],
  ]);
  assert.deepEqual(await rangesOf(deviceId, { start: at(15), end: at(20) }), [[15, 20, 1]]);
  assert.deepEqual(await rangesOf(deviceId, { start: at(12), end: at(26) }), [[15, 30, 2]]);
});

test("a recording of many days is found by a window in its middle, among others and however old it is", async () => {
  const { deviceId } = await deviceWith("long", [
    [-1_700_000_000, 1_000_000],
    [500_000, 500_010],
  ]);
  assert.deepEqual(await rangesOf(deviceId, { start: at(400_000), end: at(400_001) }), [
    [-1_700_000_000, 1_000_000, 1],
  ]);
  assert.deepEqual(await rangesOf(deviceId, { start: at(500_005), end: at(500_005) }), [
    [-1_700_000_000, 1_000_000, 2],
  ]);
});

test("by default only imported recordings count; with edge recordings each range has one import status", async () => {
  const { deviceId } = await deviceWith("statuses", [
    [0, 10],
    [12, 20],
  ]);
  assert.deepEqual(await list({ deviceId, includeEdgeRecordings: false }), []);
  const [first, second] = await admin.call(api.recordings.list, { deviceId, sortBy: "start" });
  await admin.call(api.recordings.requestImport, { keyOrId: first!.id });
  const states = async () =>
    (await list({ deviceId })).map(({ importStatus, status, device }) => [importStatus, status, device!.name]);
  assert.deepEqual(await states(), [
    ["pending", "import-pending", "statuses"],
    ["none", "at-edge", "statuses"],
  ]);
  await change(first!.id, { importStatus: "failed" });
  await change(second!.id, { importStatus: "importing" });
  assert.deepEqual(await states(), [
    ["failed", "at-edge", "statuses"],
    ["importing", "import-pending", "statuses"],
  ]);
  await change(second!.id, { importStatus: "complete" });
  const [imported, ...others] = await list({ deviceId, includeEdgeRecordings: false });
  const device = { id: deviceId, name: "statuses" };
  assert.deepEqual(imported, { deviceId, device, start: at(12), end: at(20), status: "imported" });
  assert.deepEqual(others, []);
});

test("recordings of different edge sites, and of none, have ranges of their own, which name the site; imported ones merge by default", async () => {
  const { deviceId } = await deviceWith("sites", [
    [0, 10],
    [11, 20],
    [21, 30],
  ]);
  const { id, name } = await admin.call(api.sites.create, { name: "depot", type: "edge" });
  const found = await admin.call(api.recordings.list, { deviceId, sortBy: "start" });
  await change(found[1]!.id, { edgeSiteId: id });
  for (const recording of found) await change(recording.id, { importStatus: "complete" });
  assert.deepEqual(
    (await list({ deviceId })).map(({ edgeSite, recordingCount }) => [edgeSite, recordingCount]),
    [
      [undefined, 2],
      [{ id, name }, 1],
    ],
  );
  assert.equal((await list({ deviceId, includeEdgeRecordings: false })).length, 1);
});

test("recordings without a device appear only when asked for by recording or session, and never merge", async () => {
  const agents = [await deviceWith("copy-a", [[0, 10]], "copied"), await deviceWith("copy-b", [[5, 15]], "copied")];
  const ids = agents.map(({ deviceId }) => deviceId);
  await cloud.deps.db.prisma.recording.updateMany({ where: { deviceId: { in: ids } }, data: { deviceId: null } });
  assert.ok((await list({})).every(({ deviceId }) => deviceId !== undefined));
  const session = await admin.call(api.sessions.create, { key: "copies", deviceId: ids[0]! });
  const copies = await admin.call(api.recordings.list, { deviceId: "", sortBy: "start" });
  for (const { id } of copies) await change(id, { sessionId: session.id });
  const ranges = await list({ sessionKey: "copies" });
  assert.deepEqual(
    ranges.map(({ deviceId, device, start, recordingCount }) => [deviceId, device, start, recordingCount]),
    [
      [undefined, undefined, at(0), 1],
      [undefined, undefined, at(5), 1],
    ],
  );
  const [recording] = copies;
  assert.deepEqual(await list({ recordingId: recording!.id }), [ranges[0]]);
  assert.deepEqual(await list({ recordingKey: "copied" }), [ranges[0]], "of copies the oldest is meant");
  await change(recording!.id, { importId: "imp_of_none" });
  assert.deepEqual(await list({ importId: "imp_of_none" }), [ranges[0]]);
});

test("a device, recording or session is selected by id, name or key", async () => {
  const { deviceId } = await deviceWith("chosen", [[0, 10]], "drive");
  await deviceWith("not-chosen", [[0, 10]]);
  const [recording] = await admin.call(api.recordings.list, { deviceId });
  const session = await admin.call(api.sessions.create, { key: "morning", recordingIds: [recording!.id] });
  const [range] = await list({ deviceId });
  for (const query of [
    { deviceName: "chosen" },
    { recordingId: recording!.id },
    { recordingKey: "drive" },
    { sessionId: session.id },
    { sessionKey: "morning" },
    { sessionKey: "morning", deviceId, recordingKey: "drive", projectId: recording!.projectId },
  ])
    assert.deepEqual(await list(query), [range], JSON.stringify(query));
  assert.deepEqual(await list({ importId: "" }), await list({}));
  for (const query of [{ recordingId: "rec_unknown" }, { sessionKey: "unknown" }, { deviceName: "unknown" }])
    await assert.rejects(list(query), refusedWith(404), JSON.stringify(query));
});

test("ranges come by device and start", async () => {
  const ranges = await list({});
  const keys = ranges.map(({ deviceId, start }) => [deviceId!, start] as const);
  const sorted = keys.toSorted(([a, from], [b, to]) => Number(a > b) - Number(a < b) || Number(from - to));
  assert.deepEqual(keys, sorted);
  assert.ok(new Set(keys.map(([deviceId]) => deviceId)).size > 3);
});

test("a tolerance is any number of seconds that fits 64 bits of nanoseconds; others are 400", async () => {
  const { deviceId } = await deviceWith("tolerances", [
    [0, 1],
    [1_000_000_001, 1_000_000_002],
  ]);
  assert.equal((await rangesOf(deviceId, { tolerance: 999_999_999 })).length, 2);
  assert.equal((await rangesOf(deviceId, { tolerance: 1e9 })).length, 1);
  assert.equal((await rangesOf(deviceId, { tolerance: 9_223_372_036 })).length, 1);
  for (const tolerance of ["9223372037", "1e300", "Infinity", "NaN", "-1", "", "many"])
    assert.equal(await statusOf({ tolerance }), 400, tolerance);
  for (const tolerance of ["0", "14", "14.000000001", "1e9"])
    assert.equal(await statusOf({ tolerance }), 200, tolerance);
});

test("both ends of the window are required, and it must not end before it starts: 400", async () => {
  assert.equal(await statusOf({ start: undefined }), 400);
  assert.equal(await statusOf({ end: undefined }), 400);
  assert.equal(await statusOf({ start: "2026-01-02T00:00:00.000000001Z", end: "2026-01-02" }), 400);
  assert.equal(await statusOf({ start: "2026-01-02", end: "2026-01-02" }), 200);
});

slowTest("more than 100,000 ranges are 400 instead of an answer that fills the memory", async () => {
  const { deviceId } = await deviceWith("restless", [[0, 1]]);
  const { pool } = cloud.deps.db;
  const { rows } = await pool.query<{ name: string }>(
    `SELECT indexrelid::regclass::text AS name FROM pg_index WHERE indrelid = '"Recording"'::regclass AND NOT indisunique`,
  );
  const columns = '"orgId", "projectId", "deviceId", path, "sizeBytes", "durationNs", format, "messageCount", metadata';
  const fill = `INSERT INTO "Recording" (id, "startNs", "endNs", "createdAtNs", "importStatus", "isEdge", ${columns})
    SELECT id || n, "startNs" + n * 100000000000, "endNs" + n * 100000000000, 0, 'none', true, ${columns}
    FROM "Recording", generate_series(1::bigint, 100000) n WHERE "deviceId" = '${deviceId}'`;
  // Without indexes and foreign keys the table fills in a tenth of the time.
  const bare = [...rows.map(({ name }) => `DROP INDEX ${name}`), "SET LOCAL session_replication_role = replica"];
  await pool.query([...bare, fill].join(";"));
  await assert.rejects(list({ deviceId }), refusedWith(400));
  assert.equal((await list({ deviceId, tolerance: 100 })).length, 1);
});

test("a caller sees the coverage of its organization and its projects only", async () => {
  const { id: projectId } = await admin.call(api.projects.create, { name: "second" });
  const limited = cloud.withToken(await cloud.addKey(["data.coverage.list"], [projectId]));
  assert.deepEqual(await limited.call(api.coverage.list, ALL), []);
  assert.deepEqual(await list({ projectId }), []);
  assert.deepEqual(await (await cloud.otherOrganization()).call(api.coverage.list, ALL), []);
});

async function statusOf(more: Record<string, string | undefined>): Promise<number> {
  const query = Object.entries({ start: "2026-01-01", end: "2026-01-03", ...more });
  const given = query.filter((pair): pair is [string, string] => pair[1] !== undefined);
  const headers = { authorization: `Bearer ${cloud.adminKey}` };
  const response = await fetch(`${cloud.url}/v1/data/coverage?${new URLSearchParams(given)}`, { headers });
  await response.arrayBuffer();
  return response.status;
}
