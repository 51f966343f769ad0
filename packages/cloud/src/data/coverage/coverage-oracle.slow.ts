import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, type CallInput, type CoverageRange, type ImportStatus, MIN_TOLERANCE_SECONDS } from "@downlink/protocol";
import fc from "fast-check";
import { newId } from "../../db/ids.ts";
import { startCloud } from "../../testing/start-cloud.ts";

const SECOND = 1_000_000_000n;
const DAY = 86_400n * SECOND;
const [FIRST, LAST] = [-(2n ** 63n), 2n ** 63n - 1n];
const SCENES = 20;
const QUERIES_PER_SCENE = 50;
const DEVICES = 4;

const cloud = await startCloud({ after }, { works: false });
const { admin } = cloud;
const { prisma } = cloud.deps.db;
const sites = await Promise.all(["a", "b"].map((name) => admin.call(api.sites.create, { name, type: "edge" })));

type Query = CallInput<typeof api.coverage.list>;

interface Recorded {
  readonly id: string;
  readonly key: string;
  readonly importId: string | null;
  readonly deviceId: string | null;
  readonly sessionId: string | null;
  readonly edgeSiteId: string | null;
  readonly importStatus: ImportStatus;
  readonly startNs: bigint;
  readonly endNs: bigint;
}

test("1,000 random queries return the same ranges as a slow, obvious merge", async () => {
  const agrees = fc.asyncProperty(scene, async ({ drawn, asked }) => {
    const { projectId, devices, recorded } = await store(drawn);
    const asking = asked.map(async (draw) => {
      const query = toQuery(draw, recorded, devices);
      const ranges = await admin.call(api.coverage.list, { ...query, projectId });
      assert.deepEqual(ranges.map(comparable), expected(recorded, query), inspect(query));
    });
    await Promise.all(asking);
  });
  await fc.assert(agrees, { numRuns: SCENES, endOnFailure: true }); // making a failing scene smaller would take too long
});

/** Joins any two ranges of one group that are close enough, until none are left. */
function expected(recorded: readonly Recorded[], query: Query): Comparable[] {
  const groups = Map.groupBy(
    recorded.filter((recording) => isSelected(recording, query)),
    ({ id, deviceId, importStatus, edgeSiteId }) =>
      query.includeEdgeRecordings ? [deviceId ?? id, importStatus, edgeSiteId].join() : (deviceId ?? id),
  );
  const ranges = [...groups.values()].flatMap((group) => mergeAll(group, query));
  return ranges.sort((a, b) => order(a.deviceId ?? "~", b.deviceId ?? "~") || order(sortText(a), sortText(b)));
}

function isSelected(recording: Recorded, query: Query): boolean {
  const names = ["recordingId", "recordingKey", "importId", "sessionId"] as const;
  const named = { recordingId: "id", recordingKey: "key", importId: "importId", sessionId: "sessionId" } as const;
  const isNamed = names.some((name) => query[name] !== undefined);
  return (
    recording.endNs >= query.start &&
    recording.startNs <= query.end &&
    (query.includeEdgeRecordings || recording.importStatus === "complete") &&
    (query.deviceId === undefined || recording.deviceId === query.deviceId) &&
    names.every((name) => query[name] === undefined || recording[named[name]] === query[name]) &&
    (isNamed || recording.deviceId !== null)
  );
}

function mergeAll(group: readonly Recorded[], query: Query): Comparable[] {
  const ranges = group.map(({ startNs, endNs }) => ({ startNs, endNs, count: 1 }));
  for (;;) {
    const pair = ranges
      .flatMap((a, i) => ranges.slice(i + 1).map((b) => [a, b] as const))
      .find(([a, b]) => max(a.startNs, b.startNs) - min(a.endNs, b.endNs) <= toleranceOf(query));
    if (!pair) break;
    const [a, b] = pair;
    ranges.splice(ranges.indexOf(b), 1);
    Object.assign(a, {
      startNs: min(a.startNs, b.startNs),
      endNs: max(a.endNs, b.endNs),
      count: a.count + b.count,
    });
  }
  const { deviceId, importStatus, edgeSiteId } = group[0]!;
  const edge = { importStatus, edgeSiteId };
  return ranges.map(({ startNs, endNs, count }) => ({
    deviceId,
    start: startNs,
    end: endNs,
    ...(query.includeEdgeRecordings && { ...edge, count }),
  }));
}

/** The seconds of the menu below are exact in nanoseconds. */
function toleranceOf({ tolerance = 0 }: Query): bigint {
  const seconds = Math.max(tolerance, MIN_TOLERANCE_SECONDS);
  return BigInt(Math.trunc(seconds)) * SECOND + BigInt(Math.round((seconds % 1) * 1e9));
}

interface Comparable {
  readonly deviceId: string | null;
  readonly start: bigint;
  readonly end: bigint;
  readonly importStatus?: ImportStatus | undefined;
  readonly edgeSiteId?: string | null;
  readonly count?: number;
}

function comparable(range: CoverageRange): Comparable {
  const { deviceId = null, start, end, importStatus, edgeSite, recordingCount: count } = range;
  if (count === undefined) return { deviceId, start, end };
  return { deviceId, start, end, importStatus, edgeSiteId: edgeSite?.id ?? null, count };
}

function sortText({ start, end, importStatus = "none", edgeSiteId }: Comparable): string {
  const times = [start, end].map((timeNs) => String(timeNs - FIRST).padStart(20, "0"));
  return [...times, importStatus.padEnd(10), edgeSiteId ?? "~"].join();
}

const order = <T extends string>(a: T, b: T) => Number(a > b) - Number(a < b);
const min = (a: bigint, b: bigint) => (a < b ? a : b);
const max = (a: bigint, b: bigint) => (a > b ? a : b);
const inspect = (query: object) =>
  JSON.stringify(query, (_key, value: unknown) => (typeof value === "bigint" ? String(value) : value));

// The gaps are exactly the tolerances, and one nanosecond more or less.
const tolerances = [0, 14, 14.000000001, 20, 20.5, 86_400, 1e9, 9_223_372_036];
const edges = [14n * SECOND, 14n * SECOND + 1n, 20n * SECOND, 20n * SECOND + SECOND / 2n, DAY];
const gaps = [0n, 1n, 3n * SECOND, ...edges, ...edges.map((gap) => gap + 1n), ...edges.map((gap) => gap - 1n)];
const durations = [60n * SECOND, 3600n * SECOND, DAY, DAY + 1n, 9n * DAY];

const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 6 });
/** A recording of one device or of none; it begins at a chosen distance from the end or the start of another one of the same device. */
const recording = fc.record({
  device: fc.nat(DEVICES),
  anchor: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.nat()),
  from: fc.constantFrom("end" as const, "end" as const, "start" as const),
  gap: fc.constantFrom(...gaps),
  isBefore: fc.boolean(),
  duration: fc.oneof({ weight: 6, arbitrary: fc.constantFrom(0n, 1n, 5n * SECOND) }, fc.constantFrom(...durations)),
  status: fc.oneof(
    { weight: 4, arbitrary: fc.constant<ImportStatus>("complete") },
    fc.constantFrom<ImportStatus>("none", "pending", "importing", "failed"),
  ),
  site: fc.constantFrom(null, null, null, ...sites.map(({ id }) => id)),
  isInSession: fc.boolean(),
});
const bound = fc.record({
  of: fc.nat(),
  side: fc.constantFrom("startNs", "endNs"),
  by: fc.constantFrom(-1n, 0n, 1n, DAY),
});
const question = fc.record({
  from: fc.oneof({ weight: 2, arbitrary: bound }, fc.constantFrom(FIRST, FIRST + DAY, 0n)),
  to: fc.oneof({ weight: 2, arbitrary: bound }, fc.constantFrom(LAST, LAST - 1n)),
  tolerance: fc.constantFrom(...tolerances),
  includeEdgeRecordings: fc.boolean(),
  device: maybe(fc.nat(DEVICES - 1)),
  named: maybe(
    fc.record({ by: fc.constantFrom("recordingId", "recordingKey", "importId", "sessionId"), of: fc.nat() }),
  ),
});
const scene = fc.record({
  drawn: fc.record({
    epoch: fc.constantFrom(FIRST + 1000n * DAY, -5n * SECOND, 0n, 1_700_000_000n * SECOND, LAST - 1000n * DAY),
    recordings: fc.array(recording, { minLength: 1, maxLength: 50, size: "max" }),
  }),
  asked: fc.array(question, { minLength: QUERIES_PER_SCENE, maxLength: QUERIES_PER_SCENE }),
});

type Drawn = (typeof scene extends fc.Arbitrary<infer S> ? S : never)["drawn"];
type Question = (typeof scene extends fc.Arbitrary<infer S> ? S : never)["asked"][number];

/** Each scene gets a project of its own. */
async function store({ epoch, recordings }: Drawn) {
  const { id: projectId } = await admin.call(api.projects.create, { name: newId("prj") });
  const { orgId } = await prisma.project.findUniqueOrThrow({ where: { id: projectId } });
  const owner = { orgId, projectId, createdAtNs: 0n };
  const devices = Array.from({ length: DEVICES }, (_, n) => ({ id: newId("dev"), name: `robot-${n}` }));
  await prisma.device.createMany({ data: devices.map((device) => ({ ...device, ...owner, updatedAtNs: 0n })) });
  const sessions = devices.map(({ id: deviceId }) => ({ id: newId("sess"), deviceId, updatedAtNs: 0n, ...owner }));
  await prisma.session.createMany({ data: sessions });
  const recorded: Recorded[] = [];
  for (const drawn of recordings) {
    const deviceId = devices[drawn.device]?.id ?? null;
    const ofDevice = recorded.filter((other) => other.deviceId === deviceId);
    recorded.push({
      id: newId("rec"),
      key: newId("upl"),
      importId: drawn.status === "complete" ? newId("imp") : null,
      deviceId,
      sessionId: (drawn.isInSession && sessions[drawn.device]?.id) || null,
      edgeSiteId: drawn.site,
      importStatus: drawn.status,
      ...placeOf(drawn, ofDevice, epoch),
    });
  }
  await prisma.recording.createMany({ data: recorded.map((row) => ({ ...row, ...owner, ...unasked(row) })) });
  return { projectId, devices: devices.map(({ id }) => id), recorded };
}

function placeOf(drawn: Drawn["recordings"][number], before: Recorded[], epoch: bigint) {
  const other = before.at(-1 - (drawn.anchor % before.length)) ?? { startNs: epoch, endNs: epoch };
  const beside = drawn.from === "end" ? other.endNs : other.startNs;
  const startNs = drawn.isBefore ? beside - drawn.gap - drawn.duration : beside + drawn.gap;
  return { startNs, endNs: startNs + drawn.duration };
}

/** Fields that coverage does not look at, except for the length. */
function unasked({ startNs, endNs }: Recorded) {
  const rest = { path: "x.mcap", sizeBytes: 1n, format: "mcap", messageCount: 1n, metadata: [], isEdge: true } as const;
  return { ...rest, durationNs: endNs - startNs };
}

function toQuery(
  { from, to, device, named, ...rest }: Question,
  recorded: readonly Recorded[],
  devices: string[],
): Query {
  const timeOf = (at: typeof from): bigint => {
    if (typeof at === "bigint") return at;
    return recorded[at.of % recorded.length]![at.side as "startNs"] + at.by;
  };
  const [one, other] = [timeOf(from), timeOf(to)];
  const window = { start: min(one, other), end: max(one, other) };
  return {
    ...window,
    ...rest,
    deviceId: device === undefined ? undefined : devices[device],
    ...nameOf(named, recorded),
  };
}

function nameOf(named: Question["named"], recorded: readonly Recorded[]): Partial<Query> {
  if (!named) return {};
  const { id, key, importId, sessionId } = recorded[named.of % recorded.length]!;
  const value = { recordingId: id, recordingKey: key, importId, sessionId }[named.by] ?? undefined;
  return { [named.by]: value };
}
