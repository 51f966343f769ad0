import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, type CallInput, ImportStatus } from "@downlink/protocol";
import { propertyRuns, slowTest } from "@downlink/recordings/testing";
import fc from "fast-check";
import { byKey, maybe } from "../../testing/list-oracle.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { DAY_NS, LAST_TIME_NS, type StoredRecording, storeRecordings } from "../../testing/stored-recordings.ts";

const cloud = await startCloud({ after }, { works: false });
const { stored, devices, primarySite, edgeSites, sessions } = await storeRecordings(cloud);
const firstTime = -(2n ** 63n);

type ListQuery = CallInput<typeof api.recordings.list>;
const list = (query: ListQuery) => cloud.admin.call(api.recordings.list, query);
const ids = (found: readonly { readonly id: string }[]) => found.map(({ id }) => id);

const sortKeys: Record<NonNullable<ListQuery["sortBy"]>, (row: StoredRecording) => bigint | string | Buffer | null> = {
  deviceName: (row) => devices.find(({ id }) => id === row.deviceId)?.name ?? null,
  "device.name": (row) => devices.find(({ id }) => id === row.deviceId)?.name ?? null,
  createdAt: (row) => row.createdAtNs,
  start: (row) => row.startNs,
  end: (row) => row.endNs,
  duration: (row) => row.durationNs,
  path: (row) => Buffer.from(row.path),
  importedAt: (row) => row.importedAtNs,
};

/** Computes what the specification says about a query, over the rows in memory. */
function expected(query: ListQuery): string[] {
  const { start, end, deviceId, sessionId, siteId, edgeSiteId, importStatus, topic, sortBy = "createdAt" } = query;
  const part = query.pathMatches?.toLowerCase() ?? "";
  const isIn = (value: string | null, asked: string | undefined) => asked === undefined || (value ?? "") === asked;
  if (start !== undefined && end !== undefined && start > end) return [];
  const found = stored
    .filter((row) => (start === undefined || row.endNs >= start) && (end === undefined || row.startNs <= end))
    .filter((row) => isIn(row.deviceId, deviceId) && isIn(row.sessionId, sessionId))
    .filter((row) => isIn(row.siteId, siteId) && isIn(row.edgeSiteId, edgeSiteId))
    .filter((row) => importStatus === undefined || importStatus.includes(row.importStatus))
    .filter((row) => topic === undefined || row.topic === topic)
    .filter((row) => row.path.toLowerCase().includes(part))
    .toSorted(byKey(sortKeys[sortBy], query.sortOrder));
  return ids(found.slice(query.offset, query.offset! + query.limit!));
}

const time = fc.oneof(
  fc.bigInt(-1n, 120n),
  fc.constantFrom(
    firstTime,
    LAST_TIME_NS - 1n,
    LAST_TIME_NS,
    20n - DAY_NS,
    19n - DAY_NS,
    50n + DAY_NS,
    51n + DAY_NS,
    20n - 3n * DAY_NS,
  ),
);
const queries = fc.record({
  start: maybe(time),
  end: maybe(time),
  deviceId: maybe(fc.constantFrom("", ...ids(devices))),
  sessionId: maybe(fc.constantFrom("", ...ids(sessions))),
  siteId: maybe(fc.constantFrom(primarySite.id, edgeSites[0]!.id)),
  edgeSiteId: maybe(fc.constantFrom(primarySite.id, ...ids(edgeSites))),
  importStatus: maybe(fc.uniqueArray(fc.constantFrom<ImportStatus>(...ImportStatus.options), { minLength: 1 })),
  pathMatches: maybe(
    fc.constantFrom("", "runs/1", "NS/", "Überlang", "lang/2", "g/", "7", "%", "_", "\\", "🤖", ".mc"),
  ),
  topic: maybe(fc.constantFrom("/rare", "/topic/0", "/topic/1")),
  sortBy: fc.constantFrom(undefined, ...(Object.keys(sortKeys) as (keyof typeof sortKeys)[])),
  sortOrder: fc.constantFrom("asc" as const, "desc" as const),
  limit: fc.oneof(fc.nat(10), fc.constant(2000)),
  offset: fc.oneof(fc.constant(0), fc.nat(30)),
});

test("`start` and `end` match recordings with data on or after start and on or before end, with any other filter, sort and page", async () => {
  const agrees = fc.asyncProperty(queries, async (query) => {
    assert.deepEqual(ids(await list(query)), expected(query));
  });
  await fc.assert(agrees, { numRuns: propertyRuns(200) });
});

slowTest(
  "a recording of a day or more is found by any time that it spans, in the order of starts and of ends",
  async () => {
    const times = [undefined, 19n - DAY_NS, 20n, 50n, 50n + DAY_NS, 51n + DAY_NS, 50n + 3n * DAY_NS, LAST_TIME_NS];
    for (const [start, end] of times.flatMap((from) => times.map((to) => [from, to])))
      for (const [sortBy, sortOrder] of [
        ["start", "asc"],
        ["end", "desc"],
      ] as const) {
        const query = { start, end, sortBy, sortOrder, limit: 2000, offset: 0 };
        assert.deepEqual(ids(await list(query)), expected(query), `${start} to ${end} by ${sortBy}`);
      }
  },
);
