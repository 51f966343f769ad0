import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, type CallInput, type CoverageSpan } from "@downlink/protocol";
import { propertyRuns } from "@downlink/recordings/testing";
import fc from "fast-check";
import { newId } from "../../db/ids.ts";
import { maybe } from "../../testing/list-oracle.ts";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";

const DAY_NS = 86_400_000_000_000n;
const cloud = await startCloud({ after }, { works: false });
const { admin } = cloud;
const { prisma } = cloud.deps.db;
const devices = await Promise.all(["a", "b"].map((name) => admin.call(api.devices.create, { name })));
const session = await admin.call(api.sessions.create, { key: "tour", deviceId: devices[0]!.id });
const { orgId, projectId } = devices[0]!;

/**
 * Recordings of two devices and of none, some at the edge, some in a session; three are in 1970, and two last for days among short ones.
 */
const stored = Array.from({ length: 300 }, (_, i) => {
  const startNs = i < 3 ? BigInt(i) : 1000n * DAY_NS + BigInt((i * 7919) % 1000) * DAY_NS;
  const endNs = startNs + (i % 150 === 7 ? 3n * DAY_NS : BigInt(i % 5) * 1_000_000_000n);
  return {
    id: newId("rec"),
    ...{
      orgId,
      projectId,
      path: "",
      sizeBytes: 1n,
      format: "mcap" as const,
      messageCount: 1n,
      metadata: [],
      createdAtNs: 0n,
    },
    deviceId: i % 10 === 9 ? null : devices[i % 2]!.id,
    sessionId: i % 20 === 0 || i === 9 ? session.id : null,
    importStatus: i % 3 === 1 ? ("none" as const) : ("complete" as const),
    ...{ startNs, endNs, durationNs: endNs - startNs, isEdge: i % 3 === 1 },
  };
});
await prisma.recording.createMany({ data: stored });
await prisma.$executeRaw`ANALYZE "Recording"`;

type Query = CallInput<typeof api.coverage.span>;
const span = (query: Query, client = admin) => client.call(api.coverage.span, query);

/** Computes what the contract says from the rows in memory. */
function expected({ start, end, deviceId, sessionId, includeEdgeRecordings }: Query): CoverageSpan {
  const rows = stored
    .filter((row) => includeEdgeRecordings || row.importStatus === "complete")
    .filter((row) => deviceId === undefined || row.deviceId === deviceId)
    .filter((row) => (sessionId === undefined ? row.deviceId !== null : row.sessionId === sessionId));
  const starts = rows.map(({ startNs }) => startNs).sort((a, b) => Number(a - b));
  const ends = rows.map(({ endNs }) => endNs).sort((a, b) => Number(b - a));
  if (rows.length === 0) return {};
  const skipped = Math.floor(rows.length / 100);
  const all = { start: starts[0]!, end: ends[0]! };
  const found = { all, usual: { start: starts[skipped]!, end: ends[skipped]! } };
  const touches = rows.some(
    (row) => (start === undefined || row.endNs >= start) && (end === undefined || row.startNs <= end),
  );
  if (touches) return found;
  const previous = ends.find((ns) => start !== undefined && ns < start);
  const next = starts.find((ns) => end !== undefined && ns > end);
  return { ...found, ...(previous !== undefined && { previous }), ...(next !== undefined && { next }) };
}

test("first, last, usual, previous and next equal those found by looking at each recording, for any query", async () => {
  const time = fc.oneof(
    fc.bigInt(-1n, 2n * DAY_NS),
    fc.bigInt(990n, 2010n).map((day) => day * DAY_NS + DAY_NS / 2n),
  );
  const windows = fc.oneof(
    fc
      .record({ start: maybe(time), end: maybe(time) })
      .filter(({ start, end }) => start === undefined || end === undefined || start <= end),
    time.map((start) => ({ start, end: start + DAY_NS / 4n })),
  );
  const owners = fc.record({
    deviceId: maybe(fc.constantFrom(...devices.map(({ id }) => id))),
    sessionId: maybe(fc.constant(session.id)),
    includeEdgeRecordings: fc.boolean(),
  });
  const agrees = fc.asyncProperty(windows, owners, async (window, owner) => {
    assert.deepEqual(await span({ ...window, ...owner }), expected({ ...window, ...owner }));
  });
  await fc.assert(agrees, { numRuns: propertyRuns(100) });
});

test("a robot whose clock said 1970 widens the whole span, and not the usual one", async () => {
  const { all, usual } = await span({ includeEdgeRecordings: true });
  assert.equal(all!.start, 0n);
  assert.ok(usual!.start >= 0n && usual!.end <= all!.end);
  const [, , third] = stored;
  await prisma.recording.delete({ where: { id: third!.id } });
  assert.ok((await span({ includeEdgeRecordings: true })).usual!.start >= 1000n * DAY_NS);
  await prisma.recording.create({ data: third! });
});

test("a window that ends before it starts is 400; another organization's span is empty, and its devices are 404", async () => {
  await assert.rejects(span({ start: 2n, end: 1n }), refusedWith(400));
  const other = await cloud.otherOrganization();
  assert.deepEqual(await span({ start: 1n, end: 2n }, other), {});
  await assert.rejects(span({ deviceId: devices[0]!.id }, other), refusedWith(404));
  const elsewhere = await admin.call(api.projects.create, { name: "elsewhere" });
  const limited = cloud.withToken(await cloud.addKey(["data.coverage.list"], [elsewhere.id]));
  assert.deepEqual(await span({}, limited), {});
});
