import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, type CallInput } from "@downlink/protocol";
import { propertyRuns } from "@downlink/recordings/testing";
import fc from "fast-check";
import { newId } from "../../db/ids.ts";
import { byKey, maybe } from "../../testing/list-oracle.ts";
import { startCloud } from "../../testing/start-cloud.ts";

type ListQuery = CallInput<typeof api.imports.list>;

const cloud = await startCloud({ after }, { works: false });
const { admin, deps } = cloud;
const { prisma } = deps.db;
const devices = await Promise.all(["b", "a"].map((name) => admin.call(api.devices.create, { name })));
const { orgId, projectId } = devices[0]!;
const stored = Array.from({ length: 200 }, (_, i) => importOf(i));
await prisma.import.createMany({ data: stored });
await prisma.$executeRaw`ANALYZE "Import"`; // the planner chooses the way to a page by the matches that it expects

/** Each is imported when its data was recorded, except for every seventh; one spans nearly all times. */
function importOf(i: number) {
  const startNs = BigInt(i === 50 ? 0 : i);
  const importedAtNs = BigInt(i % 7 === 0 ? 300 - i : 2 * (i >> 1));
  const times = { startNs, endNs: i === 50 ? 190n : startNs + BigInt((i % 5) * 4), importedAtNs };
  const shown = { recordingId: newId("rec"), siteId: "site_1", format: "mcap", sizeBytes: 1n } as const;
  const filename = i % 3 === 0 ? "recording.mcap" : `${i}.mcap`;
  const deviceId = i % 4 === 3 ? null : devices[i % 2]!.id;
  return {
    id: newId("imp"),
    orgId,
    projectId,
    ...shown,
    filename,
    deviceId,
    ...times,
    deletedAtNs: i % 9 ? null : 500n,
  };
}

type Row = (typeof stored)[number];

const sortKeys: Record<NonNullable<ListQuery["sortBy"]>, (row: Row) => bigint | string | null> = {
  importId: ({ id }) => id,
  deviceId: ({ deviceId }) => deviceId,
  importTime: ({ importedAtNs }) => importedAtNs,
  dataStart: ({ startNs }) => startNs,
  dataEnd: ({ endNs }) => endNs,
};

/** Computes what the specification says about a query, over the rows in memory. */
function expected(query: ListQuery): string[] {
  const { start, end, dataStart, dataEnd, deviceId, filename, includeDeleted, sortBy = "importTime" } = query;
  if (dataStart !== undefined && dataEnd !== undefined && dataStart > dataEnd) return [];
  return stored
    .filter((row) => includeDeleted || row.deletedAtNs === null)
    .filter(
      (row) => (start === undefined || row.importedAtNs >= start) && (end === undefined || row.importedAtNs <= end),
    )
    .filter(
      (row) => (dataStart === undefined || row.endNs >= dataStart) && (dataEnd === undefined || row.startNs <= dataEnd),
    )
    .filter((row) => deviceId === undefined || row.deviceId === deviceId)
    .filter((row) => filename === undefined || row.filename === filename)
    .toSorted(byKey(sortKeys[sortBy], query.sortOrder))
    .slice(query.offset, query.offset! + query.limit!)
    .map(({ id }) => id);
}

const time = fc.bigInt(-1n, 310n);
const queries = fc.record({
  start: maybe(time),
  end: maybe(time),
  dataStart: maybe(time),
  dataEnd: maybe(time),
  deviceId: maybe(fc.constantFrom(...devices.map(({ id }) => id))),
  filename: maybe(fc.constantFrom("recording.mcap", "7.mcap", "nowhere")),
  includeDeleted: fc.constantFrom(undefined, true),
  sortBy: fc.constantFrom(undefined, ...(Object.keys(sortKeys) as (keyof typeof sortKeys)[])),
  sortOrder: fc.constantFrom("asc" as const, "desc" as const),
  limit: fc.oneof(fc.nat(10), fc.constant(2000)),
  offset: fc.oneof(fc.constant(0), fc.nat(60)),
});

test("imports are listed by any filters, in any order and from any page on, by whichever index the rows are found", async () => {
  const agrees = fc.asyncProperty(queries, async (query) => {
    const found = await admin.call(api.imports.list, query);
    assert.deepEqual(
      found.map(({ id }) => id),
      expected(query),
    );
  });
  await fc.assert(agrees, { numRuns: propertyRuns(200) });
});

test("a window of data that ends before it begins matches nothing, even if an import spans both ends", async () => {
  for (const sortBy of Object.keys(sortKeys) as (keyof typeof sortKeys)[])
    assert.deepEqual(await admin.call(api.imports.list, { dataStart: 120n, dataEnd: 110n, sortBy }), []);
});
