import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, type CallInput, ImportStatus, type RecordingSummary } from "@downlink/protocol";
import { propertyRuns } from "@downlink/recordings/testing";
import fc from "fast-check";
import { newId } from "../../db/ids.ts";
import { maybe } from "../../testing/list-oracle.ts";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { storeRecordings } from "../../testing/stored-recordings.ts";

const cloud = await startCloud({ after }, { works: false });
const { admin } = cloud;
const { prisma } = cloud.deps.db;
const { stored, devices, sessions, edgeSites } = await storeRecordings(cloud);

type Query = CallInput<typeof api.recordings.summarize>;
const summarize = (query: Query, client = admin) => client.call(api.recordings.summarize, query);
type Sums = Pick<RecordingSummary, "count" | "bytes" | "seconds">;

/** Adds up the list with the same filters by hand. */
async function expected(query: Query) {
  const found = await admin.call(api.recordings.list, query);
  const sumOf = (rows: typeof found): Sums => ({
    count: rows.length,
    bytes: rows.reduce((sum, { size }) => sum + size, 0),
    seconds: Number(rows.reduce((sum, { start, end }) => sum + (end - start), 0n)) / 1e9,
  });
  const bySize = <T extends Sums>(a: T, b: T) => b.count - a.count;
  return {
    ...sumOf(found),
    isCapped: false,
    byStatus: [...Map.groupBy(found, ({ importStatus }) => importStatus)]
      .map(([importStatus, rows]) => ({ importStatus, ...sumOf(rows) }))
      .sort((a, b) => bySize(a, b) || (a.importStatus < b.importStatus ? -1 : 1)),
    byDevice: [...Map.groupBy(found, ({ device }) => device?.id)]
      .map(([, rows]) => ({ ...(rows[0]!.device && { device: rows[0]!.device }), ...sumOf(rows) }))
      .sort((a, b) => bySize(a, b) || ((a.device?.id ?? "~") < (b.device?.id ?? "~") ? -1 : 1)),
  };
}

test("the sums are those of the list with the same filters, whatever they are", async () => {
  const ids = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id);
  const queries = fc.record({
    start: maybe(fc.bigInt(0n, 110n)),
    end: maybe(fc.bigInt(0n, 110n)),
    deviceId: maybe(fc.constantFrom("", ...ids(devices))),
    deviceIds: maybe(fc.uniqueArray(fc.constantFrom("dev_unknown", ...ids(devices)), { minLength: 1 })),
    sessionId: maybe(fc.constantFrom("", ...ids(sessions))),
    edgeSiteId: maybe(fc.constantFrom(...ids(edgeSites))),
    importStatus: maybe(fc.uniqueArray(fc.constantFrom(...ImportStatus.options), { minLength: 1 })),
    topic: maybe(fc.constantFrom("/rare", "/topic/1")),
    pathMatches: maybe(fc.constantFrom("runs/1", "g/", "nowhere")),
    metadataQuery: maybe(fc.constantFrom("operator:ann", "map:*")),
  });
  const agrees = fc.asyncProperty(queries, async (query) => {
    assert.deepEqual(await summarize(query), await expected(query));
  });
  await fc.assert(agrees, { numRuns: propertyRuns(60) });
});

test("without recordings the sums are zero; another organization, and a key of another project, see nothing of these", async () => {
  const nothing = { count: 0, bytes: 0, seconds: 0, isCapped: false, byStatus: [], byDevice: [] };
  assert.deepEqual(await summarize({ path: "nowhere" }), nothing);
  assert.deepEqual(await summarize({}, await cloud.otherOrganization()), nothing);
  const elsewhere = await admin.call(api.projects.create, { name: "elsewhere" });
  const limited = cloud.withToken(await cloud.addKey(["recordings.list"], [elsewhere.id]));
  assert.deepEqual(await summarize({}, limited), nothing);
  await assert.rejects(summarize({ deviceName: "a" }, limited), refusedWith(404));
});

test("the sums of what devices report may exceed all whole numbers that a client can hold", async () => {
  const { topic: _, ...row } = stored[0]!;
  const huge = { ...row, key: null, importId: null, sizeBytes: 2n ** 53n - 1n, startNs: 0n, endNs: 2n ** 63n - 1n };
  const rows = [1, 2, 3].map(() => ({ ...huge, id: newId("rec"), durationNs: 2n ** 63n - 1n, path: "huge" }));
  await prisma.recording.createMany({ data: rows });
  const { bytes, seconds, count } = await summarize({ path: "huge" });
  assert.deepEqual([bytes, seconds, count], [3 * (2 ** 53 - 1), Number(3n * (2n ** 63n - 1n)) / 1e9, 3]);
});
