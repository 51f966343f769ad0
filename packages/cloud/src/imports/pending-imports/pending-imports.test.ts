import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, type CallInput } from "@downlink/protocol";
import type { ImportRequestUncheckedCreateInput } from "../../db/generated/models.ts";
import { newId } from "../../db/ids.ts";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";

const SECOND = 1_000_000_000n;
const cloud = await startCloud({ after }, { works: false });
const { admin, deps } = cloud;
const { prisma } = deps.db;
const alpha = await admin.call(api.devices.create, { name: "alpha" });
const beta = await admin.call(api.devices.create, { name: "beta" });
const { orgId, projectId } = alpha;
const [site] = await admin.call(api.sites.list, {});
const names = new Map<string, string>();
let created = 0n;

/** Adds a request in some state; the tests know it by a name. */
async function add(name: string, row: Partial<ImportRequestUncheckedCreateInput> = {}): Promise<string> {
  created += 1n;
  const times = { createdAtNs: created * SECOND, updatedAtNs: (100n + created) * SECOND };
  const base = { id: newId("req"), orgId, projectId, siteId: site!.id, source: "upload", state: "received" } as const;
  const shown = { pipelineStage: "Waiting to be processed", filename: `${name}.mcap` };
  const { id } = await prisma.importRequest.create({ data: { ...base, ...shown, ...times, ...row } });
  names.set(id, name);
  return id;
}

const quarantined = (errorText: string) =>
  ({ state: "error", errorCode: "X", errorText, quarantinedAtNs: SECOND }) as const;
const onAlpha = { deviceId: alpha.id, deviceName: "alpha" };
const onBeta = { deviceId: beta.id, deviceName: "beta" };
await add("received", onBeta);
await add("processing", { ...onAlpha, state: "processing", key: "k-processing", attempts: 2, nextAttemptAtNs: SECOND });
await add("ready", { state: "ready for indexing", deviceName: "Unborn" });
await add("complete", { ...onAlpha, state: "complete", importId: "imp_2" });
await add("complete-2", { state: "complete", importId: "imp_1" });
await add("undelivered", { ...onBeta, state: "error", errorCode: "FileGone", errorText: "gone", source: "edge" });
await add("quarantined", { ...onAlpha, ...quarantined("damaged"), filename: "Run 100%_A.mcap" });
await add("quarantined-2", { ...quarantined("another reason"), filename: "run 100xA.mcap" });
await add("awaiting", { ...onAlpha, state: "awaiting" });
await add("cancelled", { ...onAlpha, state: "cancelled" });

const isKnown = ({ requestId }: { requestId: string }) => names.get(requestId) ?? "unknown";
const list = async (query: CallInput<typeof api.pendingImports.list> = {}, client = admin) =>
  (await client.call(api.pendingImports.list, query)).map(isKnown);
const errors = async (query: CallInput<typeof api.pendingImports.errors> = {}, client = admin) =>
  (await client.call(api.pendingImports.errors, query)).map(isKnown);
const isNotFound = refusedWith("NotFound");
const everything = { showCompleted: true, showQuarantined: true } as const;
const all = [
  "received",
  "processing",
  "ready",
  "complete",
  "complete-2",
  "undelivered",
  "quarantined",
  "quarantined-2",
];

test("complete and quarantined requests are listed if the query asks for them; requests without bytes, and cancelled ones, only by their id", async () => {
  assert.deepEqual(await list(), ["received", "processing", "ready", "undelivered"]);
  assert.deepEqual(await list({ showCompleted: true }), [...all.slice(0, 6)]);
  const without = all.filter((name) => !name.startsWith("complete"));
  assert.deepEqual(await list({ showQuarantined: true }), without);
  assert.deepEqual(await list(everything), all);
});

test("a request is answered by its id in every state, as it is listed; one that is not visible is 404", async () => {
  for (const [requestId] of names) {
    const listed = await admin.call(api.pendingImports.list, { requestId });
    assert.deepEqual([await admin.call(api.pendingImports.get, { requestId })], listed);
  }
  const [requestId] = [...names.keys()];
  const other = await cloud.otherOrganization();
  await assert.rejects(other.call(api.pendingImports.get, { requestId: requestId! }), isNotFound);
  const limited = cloud.withToken(await cloud.addKey(["data.imports.pending.list"], ["prj_unrelated"]));
  await assert.rejects(limited.call(api.pendingImports.get, { requestId: requestId! }), isNotFound);
});

test("an item shows its state, also as a sentence, and what happens next", async () => {
  const [found] = await admin.call(api.pendingImports.list, { key: "k-processing" });
  const { requestId, createdAt, updatedAt, ...shown } = found!;
  assert.deepEqual([isKnown({ requestId }), createdAt, updatedAt], ["processing", 2n * SECOND, 102n * SECOND]);
  assert.deepEqual(shown, {
    orgId,
    projectId,
    siteId: site!.id,
    deviceId: alpha.id,
    deviceName: "alpha",
    filename: "processing.mcap",
    status: "processing",
    pipelineStage: "Waiting to be processed",
    existing: false,
    priority: 0,
    terminal: false,
    attempts: 2,
    nextAttemptAt: SECOND,
  });
  const items = await admin.call(api.pendingImports.list, everything);
  const terminal = items.filter((item) => item.terminal).map(isKnown);
  assert.deepEqual(terminal, all.slice(3));
  const quarantinedOnes = items.filter(({ quarantinedAt }) => quarantinedAt !== undefined);
  assert.deepEqual(
    quarantinedOnes.map(({ error, errorCode }) => [error, errorCode]),
    [
      ["damaged", "X"],
      ["another reason", "X"],
    ],
  );
  assert.deepEqual(
    items.flatMap(({ importId }) => importId ?? []),
    ["imp_2", "imp_1"],
  );
});

test("pending imports are filtered by each of their fields, and by several at once", async () => {
  const idOf = (name: string) => [...names].find(([, known]) => known === name)![0];
  const cases: [CallInput<typeof api.pendingImports.list>, string[]][] = [
    [{ requestId: idOf("ready") }, ["ready"]],
    [{ requestId: idOf("awaiting") }, ["awaiting"]],
    [{ requestId: idOf("cancelled") }, ["cancelled"]],
    [{ requestId: idOf("quarantined") }, ["quarantined"]],
    [{ requestId: idOf("complete") }, ["complete"]],
    [{ requestId: idOf("complete"), key: "k-processing" }, []],
    [{ requestId: "req_unknown" }, []],
    [{ key: "k-processing" }, ["processing"]],
    [{ key: "k" }, []],
    [{ deviceId: alpha.id }, ["processing", "complete", "quarantined"]],
    [{ deviceName: "beta" }, ["received", "undelivered"]],
    [{ deviceName: "Unborn" }, ["ready"]],
    [{ deviceId: alpha.id, deviceName: "beta" }, ["processing", "complete", "quarantined"]],
    [{ error: "gone" }, ["undelivered"]],
    [{ error: "gon" }, []],
    [{ siteBackfillJobId: "job_1" }, []],
    [{ filename: "ready.mcap" }, ["ready"]],
    [{ filename: "ready" }, []],
    [{ updatedSince: 107n * SECOND }, ["quarantined", "quarantined-2"]],
    [{ siteId: site!.id }, all],
    [{ hasProjectId: true }, all],
    [{ hasProjectId: false }, []],
    [{ projectId }, all],
    [{ deviceId: alpha.id, filename: "processing.mcap", updatedSince: 0n }, ["processing"]],
  ];
  for (const [query, expected] of cases)
    assert.deepEqual(await list({ ...everything, ...query }), expected, Object.keys(query).join());
  await assert.rejects(list({ deviceName: "unborn" }), isNotFound);
});

test("imports into a session are found by its id and key, whether the session was given or found", async () => {
  const session = await admin.call(api.sessions.create, { deviceId: alpha.id, key: "morning" });
  const byKey = await add("by-key", { sessionKey: "morning" });
  const byId = await add("by-id", { sessionId: session.id });
  const unborn = await add("by-new-key", { sessionKey: "evening" });
  assert.deepEqual(await list({ sessionKey: "morning" }), ["by-key", "by-id"]);
  assert.deepEqual(await list({ sessionId: session.id }), ["by-key", "by-id"]);
  assert.deepEqual(await list({ sessionKey: "evening" }), ["by-new-key"]);
  await assert.rejects(list({ sessionKey: "afternoon" }), isNotFound);
  await prisma.importRequest.updateMany({ where: { id: byId }, data: quarantined("bad") });
  assert.deepEqual(await errors({ sessionKey: "morning" }), ["by-id"]);
  await admin.call(api.sessions.delete, { keyOrId: session.id });
  await assert.rejects(list({ sessionId: session.id }), isNotFound);
  assert.deepEqual(await list({ sessionKey: "morning" }), ["by-key"], "a request waits for it to be made again");
  await prisma.importRequest.deleteMany({ where: { id: { in: [byKey, byId, unborn] } } });
});

test("every order is total: the id breaks ties, and items without a value come last either way", async () => {
  const orders: Record<string, [string[], string[]]> = {
    createdAt: [all, [...all].reverse()],
    updatedAt: [all, [...all].reverse()],
    requestId: [[...all].sort(byId), [...all].sort(byId).reverse()],
  };
  for (const [sortBy, [asc, desc]] of Object.entries(orders) as ["createdAt", [string[], string[]]][]) {
    assert.deepEqual(await list({ ...everything, sortBy }), asc);
    assert.deepEqual(await list({ ...everything, sortBy, sortOrder: "desc" }), desc);
  }
  const columns = {
    deviceId: "deviceId",
    "device.id": "deviceId",
    deviceName: "deviceName",
    "device.name": "deviceName",
    error: "error",
    importId: "importId",
  } as const;
  for (const [sortBy, column] of Object.entries(columns) as [keyof typeof columns, "error"][])
    for (const sortOrder of ["asc", "desc"] as const) {
      const found = await admin.call(api.pendingImports.list, { ...everything, sortBy, sortOrder });
      const sorted = [...found].sort((a, b) => compare([a[column], a.requestId], [b[column], b.requestId], sortOrder));
      assert.deepEqual(found.map(isKnown), sorted.map(isKnown), `${sortBy} ${sortOrder}`);
      assert.equal(found.length, all.length);
    }
});

type Key = [string | undefined, string];

function compare([a, idA]: Key, [b, idB]: Key, sortOrder: "asc" | "desc"): number {
  if (a === undefined && b !== undefined) return 1;
  if (b === undefined && a !== undefined) return -1;
  const isBefore = a === b ? idA < idB : a! < b!;
  return isBefore === (sortOrder === "asc") ? -1 : 1;
}

function byId(a: string, b: string): number {
  const idOf = (name: string) => [...names].find(([, known]) => known === name)![0];
  return idOf(a) < idOf(b) ? -1 : 1;
}

test("pages follow each other without a gap, in orders with and without values", async () => {
  for (const sortBy of ["createdAt", "deviceName", "error"] as const) {
    const whole = await list({ ...everything, sortBy });
    const pages = await Promise.all([0, 3, 6, 9].map((offset) => list({ ...everything, sortBy, limit: 3, offset })));
    assert.deepEqual(pages.flat(), whole, sortBy);
  }
  assert.deepEqual(await list({ limit: 0 }), []);
  assert.deepEqual(await list({ sortBy: "error", limit: 0 }), []);
});

test("import errors are all that failed, including quarantined ones, with filters and orders of their own", async () => {
  assert.deepEqual(await errors(), ["undelivered", "quarantined", "quarantined-2"]);
  const cases: [CallInput<typeof api.pendingImports.errors>, string[]][] = [
    [{ deviceId: beta.id }, ["undelivered"]],
    [{ deviceName: "alpha" }, ["quarantined"]],
    [{ error: "damaged" }, ["quarantined"]],
    [{ siteBackfillJobId: "job_1" }, []],
    [{ hasProjectId: false }, []],
    [{ projectId }, ["undelivered", "quarantined", "quarantined-2"]],
    [{ sortBy: "error" }, ["quarantined-2", "quarantined", "undelivered"]],
    [{ sortBy: "error", sortOrder: "desc" }, ["undelivered", "quarantined", "quarantined-2"]],
    [{ sortBy: "deviceName" }, ["quarantined", "undelivered", "quarantined-2"]],
    [{ sortBy: "device.name", sortOrder: "desc" }, ["undelivered", "quarantined", "quarantined-2"]],
    [{ sortBy: "updatedAt", sortOrder: "desc" }, ["quarantined-2", "quarantined", "undelivered"]],
    [{ limit: 1, offset: 1 }, ["quarantined"]],
  ];
  for (const [query, expected] of cases)
    assert.deepEqual(await errors(query), expected, JSON.stringify(Object.keys(query)));
});

test("filenameMatches finds a part of the file name in upper or lower case, and % and _ stand for themselves", async () => {
  const cases: [string, string[]][] = [
    ["run 100", ["quarantined", "quarantined-2"]],
    ["RUN 100%", ["quarantined"]],
    ["%_", ["quarantined"]],
    ["100_a", []],
    ["\\", []],
    [".MCAP", ["undelivered", "quarantined", "quarantined-2"]],
  ];
  for (const [filenameMatches, expected] of cases)
    assert.deepEqual(await errors({ filenameMatches }), expected, filenameMatches);
});

test("a device's new name finds all of its imports; a complete one keeps the name of its time, and is found by that too", async () => {
  const device = await admin.call(api.devices.create, { name: "before" });
  const row = { deviceId: device.id, deviceName: "before" };
  const ids = [await add("open", row), await add("done", { ...row, state: "complete" })];
  await admin.call(api.devices.update, { nameOrId: device.id, name: "after" });
  assert.deepEqual(await list({ ...everything, deviceName: "after" }), ["open", "done"]);
  assert.deepEqual(await list({ ...everything, deviceName: "before" }), ["done"]);
  const shown = await admin.call(api.pendingImports.list, { ...everything, deviceId: device.id });
  assert.deepEqual(
    shown.map(({ deviceName }) => deviceName),
    ["after", "before"],
  );
  assert.deepEqual(await list({ ...everything, deviceId: device.id }), ["open", "done"]);
  await prisma.importRequest.deleteMany({ where: { id: { in: ids } } });
});

test("an import shows its recording and its priority; it shows no recording that the key may not see", async () => {
  const elsewhere = await admin.call(api.projects.create, { name: "of the recording" });
  const recording = await prisma.recording.create({
    data: {
      ...{ id: newId("rec"), orgId, projectId: elsewhere.id, path: "moved.mcap", sizeBytes: 1n, format: "mcap" },
      ...{ startNs: 1n, endNs: 1n, durationNs: 0n, messageCount: 1n, metadata: [], isEdge: true },
      ...{ createdAtNs: 1n, importStatus: "none" },
    },
  });
  const id = await add("moved", { recordingId: recording.id, priority: -10 });
  const find = async (client = admin) => (await client.call(api.pendingImports.list, { requestId: id }))[0]!;
  assert.deepEqual([(await find()).recordingId, (await find()).priority], [recording.id, -10]);
  const limited = cloud.withToken(await cloud.addKey(["data.imports.pending.list"], [projectId]));
  assert.equal((await find(limited)).recordingId, undefined);
  await prisma.recording.delete({ where: { id: recording.id } });
  assert.equal((await find()).recordingId, undefined);
  await prisma.importRequest.delete({ where: { id } });
});

test("requests that are not visible are not listed: those of other organizations, and of projects that a key may not see", async () => {
  const other = await cloud.otherOrganization();
  assert.deepEqual([await list(everything, other), await errors({}, other)], [[], []]);
  const { id } = await admin.call(api.projects.create, { name: "second" });
  const elsewhere = await add("elsewhere", { projectId: id });
  const unresolved = await add("unresolved", { projectId: null });
  const limited = cloud.withToken(await cloud.addKey(["data.imports.pending.list"], [id]));
  assert.deepEqual(await list({}, limited), ["elsewhere"]);
  assert.deepEqual(await list({ hasProjectId: false }), ["unresolved"]);
  assert.deepEqual(await list({ projectId: id }), ["elsewhere"]);
  await prisma.importRequest.deleteMany({ where: { id: { in: [elsewhere, unresolved] } } });
});

test("an unknown order and a malformed time are 400", async () => {
  const headers = { authorization: `Bearer ${cloud.adminKey}` };
  for (const query of ["sortBy=filename", "updatedSince=yesterday", "showCompleted=yes", "limit=2001", "offset=-1"]) {
    const response = await fetch(`${cloud.url}/v1/data/pending-imports?${query}`, { headers });
    assert.equal(response.status, 400, query);
  }
});
