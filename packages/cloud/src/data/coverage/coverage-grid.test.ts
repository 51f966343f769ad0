import assert from "node:assert/strict";
import { after, test } from "node:test";
import {
  api,
  type CallInput,
  type CoverageGrid,
  capabilities,
  coverageBits,
  ErrorBody,
  type ImportStatus,
  MAX_GRID_BINS,
} from "@downlink/protocol";
import { propertyRuns } from "@downlink/recordings/testing";
import fc from "fast-check";
import { newId } from "../../db/ids.ts";
import { startCloud } from "../../testing/start-cloud.ts";

const SECOND = 1_000_000_000n;
const DAY = 86_400n * SECOND;
const YEAR = 365n * DAY;
const [FIRST, LAST] = [-(2n ** 63n), 2n ** 63n - 1n];
const SCENES = 8;
const WINDOWS = 25;
const EPOCH = 1_700_000_000n * SECOND;

const cloud = await startCloud({ after }, { works: false });
const { admin } = cloud;
const { prisma } = cloud.deps.db;

type Query = CallInput<typeof api.coverage.grid>;
type Row = CoverageGrid["devices"][number];

interface Span {
  readonly startNs: bigint;
  readonly endNs: bigint;
}

interface Recorded extends Span {
  readonly status: ImportStatus;
  readonly sizeBytes: bigint;
}

interface Fleet {
  readonly projectId: string;
  readonly devices: readonly {
    readonly id: string;
    readonly recorded: readonly Recorded[];
    readonly events: readonly Span[];
  }[];
}

/** Stores devices of a new project; `of` says in which project a device's recordings are, if that is another one. */
async function store(
  devices: readonly { readonly recorded: readonly Recorded[]; readonly events?: readonly Span[] }[],
  of?: string,
): Promise<Fleet> {
  const { id: projectId } = await admin.call(api.projects.create, { name: newId("prj") });
  const { orgId } = await prisma.project.findUniqueOrThrow({ where: { id: projectId } });
  const owner = { orgId, projectId, createdAtNs: 0n };
  const named = devices.map((device, n) => ({ id: newId("dev"), name: `robot-${n}`, events: [], ...device }));
  await prisma.device.createMany({
    data: named.map(({ id, name }, n) => ({ id, name, ...owner, createdAtNs: BigInt(n), updatedAtNs: 0n })),
  });
  const rows = named.flatMap(({ id: deviceId, recorded }) =>
    recorded.map(({ status: importStatus, ...span }) => ({
      ...owner,
      ...span,
      ...({ path: "x.mcap", format: "mcap", messageCount: 1n, metadata: [], isEdge: true } as const),
      ...{ id: newId("rec"), deviceId, importStatus, projectId: of ?? projectId, durationNs: lengthOf(span) },
    })),
  );
  await prisma.recording.createMany({ data: rows });
  const events = named.flatMap(({ id: deviceId, events: spans }) =>
    spans.map(({ startNs, endNs }) => ({ id: newId("evt"), deviceId, startNs, endNs, metadata: {}, updatedAtNs: 0n })),
  );
  await prisma.event.createMany({ data: events.map((event) => ({ ...event, ...owner })) });
  return { projectId, devices: named };
}

/** The column has 64 bits, and what the whole of time needs does not fit. */
const lengthOf = ({ startNs, endNs }: Span) => (endNs - startNs > LAST ? LAST : endNs - startNs);

test("cells and sums are those of a slow, obvious count", async () => {
  const agrees = fc.asyncProperty(scene, async ({ epoch, devices, windows }) => {
    const fleet = await store(devices.map((device) => placed(device, epoch)));
    const spans = fleet.devices.flatMap(({ recorded, events }) => [...recorded, ...events]);
    await Promise.all(
      windows.map(async (drawn) => {
        const query = toQuery(drawn, spans, epoch);
        const grid = await admin.call(api.coverage.grid, { ...query, projectId: fleet.projectId });
        assert.deepEqual(
          grid.devices.map(({ id }) => id),
          fleet.devices.map(({ id }) => id),
        );
        grid.devices.forEach((row, n) => {
          assertRow(row, fleet.devices[n]!, query);
        });
      }),
    );
  });
  await fc.assert(agrees, { numRuns: propertyRuns(SCENES), endOnFailure: true });
});

const grid = (query: Partial<Query>, client = admin) =>
  client.call(api.coverage.grid, { start: EPOCH, binNs: Number(60n * SECOND), bins: 60, ...query });
const cellsOf = ({ devices }: CoverageGrid) => devices.map(({ cells }) => [...new Set(Buffer.from(cells, "base64"))]);
const WHOLE = coverageBits.third | coverageBits.twoThirds;
const imported = (startNs: bigint, endNs: bigint): Recorded => ({ startNs, endNs, status: "complete", sizeBytes: 10n });

test("a recording and an event that began a year before the window are in each of its bins", async () => {
  const long = imported(EPOCH - YEAR, EPOCH + YEAR);
  const { projectId } = await store([{ recorded: [long], events: [long] }]);
  const answer = await grid({ projectId });
  assert.deepEqual(cellsOf(answer), [[WHOLE | coverageBits.imported | coverageBits.event]]);
  assert.deepEqual(answer.devices[0]!.imported, { recordings: 1, bytes: 10, coveredSeconds: 3600 });
  assert.deepEqual(cellsOf(await grid({ projectId, start: EPOCH + YEAR + 1n })), [[0]]);
});

test("a bin says whether recordings cover a third of it, or two; time that several have counts once", async () => {
  const bin = 60n * SECOND;
  const part = (n: bigint, fromS: bigint, toS: bigint) =>
    imported(EPOCH + n * bin + fromS * SECOND, EPOCH + n * bin + toS * SECOND - 1n);
  const { projectId } = await store([
    {
      recorded: [
        part(0n, 0n, 19n),
        part(1n, 40n, 60n),
        ...[part(2n, 0n, 30n), part(2n, 10n, 30n), part(2n, 20n, 39n)],
        ...[part(3n, 0n, 10n), part(3n, 30n, 60n)],
        part(4n, 0n, 200n),
      ],
    },
  ]);
  const [row] = (await grid({ projectId, bins: 9 })).devices;
  const fullness = [...Buffer.from(row!.cells, "base64")].map((cell) => cell & WHOLE);
  const { third } = coverageBits;
  assert.deepEqual(fullness, [0, third, third, WHOLE, WHOLE, WHOLE, WHOLE, third, 0]);
});

test("devices are those of their list, in its order, also without data, and by a page of it", async () => {
  const { projectId, devices } = await store(Array.from({ length: 5 }, () => ({ recorded: [] })));
  for (const order of [
    {},
    { sortOrder: "desc" },
    { sortBy: "name", sortOrder: "desc" },
    { nameMatches: "T-3" },
  ] as const) {
    const listed = await admin.call(api.devices.list, { projectId, ...order, limit: 3, offset: 0 });
    const shown = await grid({ projectId, ...order, limit: 3 });
    assert.deepEqual(
      shown.devices.map(({ id, name }) => ({ id, name })),
      listed.map(({ id, name }) => ({ id, name })),
    );
  }
  const rest = await grid({ projectId, limit: 3, offset: 4 });
  assert.deepEqual(
    rest.devices.map(({ id }) => id),
    [devices[4]!.id],
  );
  const { devices: chosen } = await grid({ deviceIds: [devices[3]!.id, "unknown", devices[1]!.id] });
  assert.deepEqual(
    chosen.map(({ id }) => id),
    [devices[1]!.id, devices[3]!.id],
  );
});

test("who is limited to a project sees its devices, and of these only its recordings; another organization sees none", async () => {
  const there = await store([{ recorded: [imported(EPOCH, EPOCH)] }]);
  const here = await store([{ recorded: [imported(EPOCH, EPOCH)] }]);
  const moved = await store([{ recorded: [imported(EPOCH, EPOCH)] }], there.projectId);
  const deviceIds = [there, here, moved].map(({ devices }) => devices[0]!.id);
  const limited = cloud.withToken(await cloud.addKey(capabilities, [here.projectId, moved.projectId]));
  const { devices } = await grid({ deviceIds }, limited);
  assert.deepEqual(
    devices.map(({ id, imported: { recordings } }) => [id, recordings]).sort(),
    [
      [deviceIds[1], 1],
      [deviceIds[2], 0],
    ].sort(),
  );
  assert.deepEqual((await grid({ deviceIds }, await cloud.otherOrganization())).devices, []);
});

test("windows beyond what there may be are refused, with what is wrong", async () => {
  const ids = Array.from({ length: 65 }, (_, n) => `dev_${n}`).join();
  for (const [wrong, path] of [
    [`binNs=${2 ** 52}&bins=${MAX_GRID_BINS}`, "binNs"],
    [`binNs=1&bins=${MAX_GRID_BINS + 1}`, "bins"],
    ["binNs=1&bins=0", "bins"],
    ["binNs=0", "binNs"],
    ["binNs=1&limit=65", "limit"],
    [`binNs=1&deviceIds=${ids}`, "deviceIds"],
  ]) {
    const headers = { authorization: `Bearer ${cloud.adminKey}` };
    const answer = await fetch(`${cloud.url}/v1/data/coverage-grid?start=2026-01-01&${wrong}`, { headers });
    assert.equal(answer.status, 400);
    assert.equal(ErrorBody.parse(await answer.json()).details?.[0]?.path, path);
  }
});

const bitOf = { complete: 1, pending: 2, importing: 2, none: 4, failed: 8 } as const;
const partOf = {
  complete: "imported",
  pending: "onItsWay",
  importing: "onItsWay",
  none: "edgeOnly",
  failed: "failed",
} as const;

function assertRow(row: Row, { recorded, events }: Fleet["devices"][number], query: Query): void {
  const bins = query.bins ?? 1024;
  const binNs = BigInt(query.binNs);
  const window = { startNs: query.start, endNs: query.start + binNs * BigInt(bins) - 1n };
  const cells = Buffer.from(row.cells, "base64");
  assert.equal(cells.length, bins);
  for (let bin = 0; bin < bins; bin++) {
    const startNs = query.start + binNs * BigInt(bin);
    const time = { startNs, endNs: startNs + binNs - 1n };
    const bits = recorded.reduce((sum, one) => sum | (touch(one, time) ? bitOf[one.status] : 0), 0);
    const marks = bits | (events.some((one) => touch(one, time)) ? coverageBits.event : 0);
    assert.equal(cells[bin]! & ~WHOLE, marks, `bin ${bin}`);
  }
  const within = recorded.filter((one) => touch(one, window));
  assertSeconds(row.coveredSeconds, within, window);
  for (const part of new Set(Object.values(partOf))) {
    const ofPart = within.filter(({ status }) => partOf[status] === part);
    assert.equal(row[part].recordings, ofPart.length);
    assert.equal(row[part].bytes, Number(ofPart.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0n)));
    assertSeconds(row[part].coveredSeconds, ofPart, window);
  }
}

const touch = (a: Span, b: Span) => a.startNs <= b.endNs && b.startNs <= a.endNs;
const min = (a: bigint, b: bigint) => (a < b ? a : b);
const max = (a: bigint, b: bigint) => (a > b ? a : b);

/** Times are measured in floating point, which loses at most some nanoseconds of each recording in the longest window. */
function assertSeconds(seconds: number, spans: readonly Span[], window: Span): void {
  const edges = [...new Set(spans.flatMap(({ startNs, endNs }) => [startNs, endNs + 1n]))]
    .map((edge) => min(max(edge, window.startNs), window.endNs + 1n))
    .sort((a, b) => Number(a - b));
  const coveredNs = edges.slice(1).reduce((sum, edge, n) => {
    const isCovered = spans.some(({ startNs, endNs }) => startNs <= edges[n]! && edges[n]! <= endNs);
    return isCovered ? sum + edge - edges[n]! : sum;
  }, 0n);
  const lostNs = spans.length * (Number(window.endNs - window.startNs) / 2 ** 50 + 1);
  assert.ok(Math.abs(seconds * 1e9 - Number(coveredNs)) <= lostNs, `${seconds} s of ${coveredNs} ns`);
}

const lengths = [0n, 0n, 1n, 5n * SECOND, DAY - 1n, DAY, DAY + 1n, 9n * DAY, YEAR];
const drawnSpan = {
  gap: fc.constantFrom(-YEAR, -DAY, -1n, 0n, 1n, SECOND, 60n * SECOND, DAY, DAY + 1n, YEAR),
  lengthNs: fc.constantFrom(...lengths),
};
const drawnDevice = fc.record({
  recorded: fc.array(
    fc.record({
      ...drawnSpan,
      status: fc.constantFrom<ImportStatus>("complete", "complete", "none", "none", "pending", "importing", "failed"),
      sizeBytes: fc.constantFrom(0n, 1n, 2n ** 40n),
    }),
    { maxLength: 20, size: "max" },
  ),
  events: fc.array(fc.record(drawnSpan), { maxLength: 6 }),
});
const drawnWindow = fc.record({
  of: fc.nat(),
  edge: fc.constantFrom("startNs", "endNs", "epoch"),
  by: fc.constantFrom(-YEAR, -DAY, -2n, -1n, 0n, 1n, 2n, DAY),
  binNs: fc.constantFrom(1, 2, 3, 14e9, 3600e9, 86_400e9, 2 ** 45, 2 ** 52),
  bins: fc.constantFrom(1, 2, 7, 64, 300, 1024),
});
const scene = fc.record({
  epoch: fc.constantFrom(FIRST, 0n, EPOCH, LAST),
  devices: fc.array(drawnDevice, { minLength: 1, maxLength: 3 }),
  windows: fc.array(drawnWindow, { minLength: WINDOWS, maxLength: WINDOWS, size: "max" }),
});

const inTime = (timeNs: bigint) => min(max(timeNs, FIRST), LAST);

/** Each span begins at a distance from the one before it; all stay within the time that 64 bits hold. */
function placed<R, E>(
  drawn: { recorded: (R & { gap: bigint; lengthNs: bigint })[]; events: (E & { gap: bigint; lengthNs: bigint })[] },
  epoch: bigint,
) {
  const place = <T>(spans: (T & { gap: bigint; lengthNs: bigint })[]) => {
    let atNs = epoch;
    return spans.map(({ gap, lengthNs, ...rest }) => {
      const startNs = inTime(atNs + gap);
      atNs = inTime(startNs + lengthNs);
      return { ...rest, startNs, endNs: atNs };
    });
  };
  return { recorded: place(drawn.recorded), events: place(drawn.events) };
}

function toQuery(
  { of, edge, by, binNs, bins }: typeof drawnWindow extends fc.Arbitrary<infer W> ? W : never,
  spans: readonly Span[],
  epoch: bigint,
) {
  const span = spans[of % Math.max(1, spans.length)];
  const atNs = span && edge !== "epoch" ? span[edge as keyof Span] : epoch;
  return { start: inTime(atNs + by), binNs, bins };
}
