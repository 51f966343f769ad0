import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, type CallInput } from "@downlink/protocol";
import { propertyRuns } from "@downlink/recordings/testing";
import fc from "fast-check";
import { newId } from "../../db/ids.ts";
import { byKey, maybe } from "../../testing/list-oracle.ts";
import { startCloud } from "../../testing/start-cloud.ts";

type ListQuery = CallInput<typeof api.pendingImports.list>;

const cloud = await startCloud({ after }, { works: false });
const { admin, deps } = cloud;
const { prisma } = deps.db;
const devices = await Promise.all(["b", "a"].map((name) => admin.call(api.devices.create, { name })));
const { orgId, projectId } = devices[0]!;
const [site] = await admin.call(api.sites.list, {});
const stored = Array.from({ length: 200 }, (_, i) => requestOf(i));
await prisma.importRequest.createMany({ data: stored });
await prisma.$executeRaw`ANALYZE "ImportRequest"`; // the planner chooses the way to a page by the matches that it expects

/** Most requests are complete; one device has most of them, and some names belong to devices that do not exist yet. */
function requestOf(i: number) {
  const unfinished = [
    "received",
    "error",
    "error",
    "processing",
    "awaiting",
    "cancelled",
    "ready for indexing",
  ] as const;
  const state = i % 3 === 0 ? unfinished[(i / 3) % unfinished.length]! : ("complete" as const);
  const device = i % 8 < 6 ? devices[i % 8 === 5 ? 1 : 0] : undefined;
  return {
    ...{
      id: newId("req"),
      orgId,
      projectId,
      siteId: site!.id,
      source: "upload" as const,
      state,
      pipelineStage: "Stage",
    },
    filename: i % 4 === 0 ? "recording.mcap" : `${i}.mcap`,
    deviceId: device?.id ?? null,
    deviceName: device?.name ?? (i % 8 === 6 ? "unborn" : null),
    importId: state === "complete" ? newId("imp") : null,
    errorText: state === "error" ? `reason ${i % 4}` : null,
    quarantinedAtNs: state === "error" && i % 2 === 0 ? 1n : null,
    createdAtNs: BigInt(i >> 1),
    updatedAtNs: BigInt(i % 7 === 0 ? 300 - i : i),
  };
}

type Row = (typeof stored)[number];
const sortKeys: Record<NonNullable<ListQuery["sortBy"]>, (row: Row) => bigint | string | null> = {
  createdAt: ({ createdAtNs }) => createdAtNs,
  updatedAt: ({ updatedAtNs }) => updatedAtNs,
  requestId: ({ id }) => id,
  deviceId: ({ deviceId }) => deviceId,
  "device.id": ({ deviceId }) => deviceId,
  deviceName: ({ deviceName }) => deviceName,
  "device.name": ({ deviceName }) => deviceName,
  error: ({ errorText }) => errorText,
  importId: ({ importId }) => importId,
};

/** Computes what the specification says about a query, over the rows in memory. */
function expected(query: ListQuery): string[] {
  const { showCompleted, showQuarantined, updatedSince, deviceId, deviceName, error, filename } = query;
  const { sortBy = "createdAt", offset = 0, limit = 0 } = query;
  return stored
    .filter(({ state }) => !["awaiting", "cancelled"].includes(state) && (showCompleted || state !== "complete"))
    .filter((row) => showQuarantined || row.quarantinedAtNs === null)
    .filter((row) => updatedSince === undefined || row.updatedAtNs >= updatedSince)
    .filter((row) => deviceId === undefined || row.deviceId === deviceId)
    .filter((row) => deviceName === undefined || row.deviceName === deviceName)
    .filter((row) => error === undefined || row.errorText === error)
    .filter((row) => filename === undefined || row.filename === filename)
    .toSorted(byKey(sortKeys[sortBy], query.sortOrder))
    .slice(offset, offset + limit)
    .map(({ id }) => id);
}

const queries = fc.record({
  showCompleted: fc.boolean(),
  showQuarantined: fc.boolean(),
  updatedSince: fc.option(fc.bigInt(-1n, 310n), { nil: undefined }),
  device: maybe(
    fc.constantFrom(...devices.map(({ id }) => ({ deviceId: id })), { deviceName: "a" }, { deviceName: "unborn" }),
  ),
  error: maybe(fc.constantFrom("reason 1", "reason 2", "nothing")),
  filename: maybe(fc.constantFrom("recording.mcap", "7.mcap", "nowhere")),
  sortBy: fc.constantFrom(undefined, ...(Object.keys(sortKeys) as (keyof typeof sortKeys)[])),
  sortOrder: fc.constantFrom("asc" as const, "desc" as const),
  limit: fc.oneof(fc.nat(10), fc.constant(2000)),
  offset: fc.oneof(fc.constant(0), fc.nat(60)),
});

test("pending imports are listed by any filters, in any order and from any page on, by whichever index the rows are found", async () => {
  const agrees = fc.asyncProperty(queries, async ({ device, ...rest }) => {
    const query = { ...rest, ...device };
    const found = await admin.call(api.pendingImports.list, query);
    assert.deepEqual(
      found.map(({ requestId }) => requestId),
      expected(query),
    );
  });
  await fc.assert(agrees, { numRuns: propertyRuns(200) });
});
