import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, type CallInput } from "@downlink/protocol";
import { eventually, makeBag, makeMcap, slowTest } from "@downlink/recordings/testing";
import type { ImportUncheckedCreateInput } from "../../db/generated/models.ts";
import { newId } from "../../db/ids.ts";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { deliver, recordingItem, startAgent, type TestAgent } from "../../testing/test-agent.ts";
import { untilRecording, uploadFile } from "../../testing/upload-file.ts";

const SECOND = 1_000_000_000n;
const cloud = await startCloud({ after });
const { admin, deps } = cloud;
const { prisma } = deps.db;
const robot = await admin.call(api.devices.create, { name: "robot" });
const [site] = await admin.call(api.sites.list, {});
let minute = 0n;

/** Makes a recording that no other test has. */
function anotherMcap() {
  minute += 60n;
  return makeMcap({ startNs: (1_760_000_000n + minute) * SECOND, durationSeconds: 1 });
}

const upload = async (filename = "a.mcap") => uploadFile(cloud, await anotherMcap(), { filename, deviceId: robot.id });
let kept: ReturnType<typeof uploadNewYear> | undefined;

async function uploadNewYear() {
  const bytes = await makeMcap({ startNs: 1_767_225_599n * SECOND, durationSeconds: 2 });
  return { bytes, ended: await uploadFile(cloud, bytes, { filename: "new-year.mcap", deviceId: robot.id }) };
}

/** Imports one recording for all tests that delete nothing of it. */
function keptImport() {
  kept ??= uploadNewYear();
  return kept;
}

const list = (query: CallInput<typeof api.imports.list> = {}) => admin.call(api.imports.list, query);
const statusOf = async (keyOrId: string) => (await admin.call(api.recordings.get, { keyOrId })).importStatus;
const notFound = refusedWith(404);

function deleteMany(query: string, body?: unknown): Promise<Response> {
  const headers = { authorization: `Bearer ${cloud.adminKey}`, "content-type": "application/json" };
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  return fetch(`${cloud.url}/v1/data/imports${query}`, { method: "DELETE", headers, ...sent });
}

test("a completed import is listed as it was: ids, device, spans, types, sizes and the day of its start", async () => {
  const { bytes, ended } = await keptImport();
  const recording = await admin.call(api.recordings.get, { keyOrId: ended.recordingId! });
  const [found] = await list({ filename: "new-year.mcap" });
  assert.deepEqual(found, {
    id: ended.importId,
    importId: ended.importId,
    orgId: robot.orgId,
    deviceId: robot.id,
    deviceName: "robot",
    filename: "new-year.mcap",
    importTime: recording.importedAt,
    start: recording.start,
    end: recording.end,
    inputType: "mcap0",
    outputType: "mcap0",
    inputSize: bytes.length,
    totalOutputSize: bytes.length,
    date: "20251231",
    deleted: false,
  });
  await uploadFile(cloud, await makeBag(), { filename: "a.bag", key: "bag" });
  const [bag] = await list({ filename: "a.bag" });
  assert.deepEqual([bag!.inputType, bag!.outputType, bag!.deviceId], ["bag1", "bag1", undefined]);
});

const asked: [CallInput<typeof api.imports.list>, string[]][] = [
  [{}, ["c", "b", "a"]],
  [{ includeDeleted: true }, ["c", "b", "a", "gone"]],
  [{ deviceName: "sorted" }, ["a"]],
  [{ filename: "b.mcap" }, ["b"]],
  [{ filename: "B.mcap" }, []],
  [{ start: 20n * SECOND }, ["b", "a"]],
  [{ end: 20n * SECOND }, ["c", "b"]],
  [{ start: 11n * SECOND, end: 29n * SECOND }, ["b"]],
  [{ dataStart: 9n * SECOND }, ["c", "a"]],
  [{ dataEnd: 3n * SECOND }, ["c", "a"]],
  [{ dataStart: 7n * SECOND, dataEnd: 8n * SECOND }, ["c", "a"]],
  [{ sortBy: "importId" }, ["a", "b", "c"]],
  [{ sortBy: "importTime", sortOrder: "desc" }, ["a", "b", "c"]],
  [{ sortBy: "dataStart" }, ["a", "c", "b"]],
  [{ sortBy: "dataEnd", sortOrder: "desc" }, ["c", "a", "b"]],
  [{ limit: 1, offset: 1 }, ["b"]],
  [{ limit: 0 }, []],
];

test("imports are filtered by device, file name, time of import and of data, and sorted in each of their orders", async () => {
  const org = await cloud.otherOrganization();
  const device = await org.call(api.devices.create, { name: "sorted" });
  const names = new Map<string, string>();
  const add = async (name: string, [imported, start, end]: [bigint, bigint, bigint], more = {}) => {
    const id = newId("imp", Date.now() + names.size); // ids of one millisecond have no order
    const base = { id, orgId: device.orgId, projectId: device.projectId, recordingId: newId("rec") };
    const shown = { siteId: "site_1", filename: `${name}.mcap`, format: "mcap", sizeBytes: 1n } as const;
    const times = { importedAtNs: imported * SECOND, startNs: start * SECOND, endNs: end * SECOND };
    const row: ImportUncheckedCreateInput = { ...base, ...shown, ...times, ...more };
    await prisma.import.create({ data: row });
    names.set(id, name);
  };
  await add("a", [30n, 1n, 9n], { deviceId: device.id, deviceName: "sorted" });
  await add("b", [20n, 5n, 6n]);
  await add("c", [10n, 3n, 20n]);
  await add("gone", [40n, 1n, 2n], { deletedAtNs: SECOND });
  const ask = async (query: CallInput<typeof api.imports.list>) =>
    (await org.call(api.imports.list, query)).map(({ id }) => names.get(id));
  assert.deepEqual(await ask({ deviceId: device.id }), ["a"]);
  for (const [query, expected] of asked) assert.deepEqual(await ask(query), expected, Object.entries(query).join());
  for (const sortOrder of ["asc", "desc"] as const)
    assert.equal((await ask({ sortBy: "deviceId", sortOrder }))[0], "a", "what has no device comes last either way");
  await assert.rejects(org.call(api.imports.list, { deviceId: robot.id }), notFound);
});

test("deleting an import deletes all its data: the recording and its object; later imports of the same file start again", async () => {
  const bytes = await anotherMcap();
  const body = { filename: "d.mcap", deviceId: robot.id, key: "deleted" };
  const { importId, recordingId } = await uploadFile(cloud, bytes, body);
  const { blobKey } = await prisma.recording.findUniqueOrThrow({ where: { id: recordingId! } });
  assert.deepEqual(await admin.call(api.imports.delete, { importId: importId! }), { id: importId });
  await assert.rejects(admin.call(api.recordings.get, { keyOrId: recordingId! }), notFound);
  await eventually(
    () => deps.blobs.stat(blobKey!),
    (object) => object === undefined,
  );
  await assert.rejects(admin.call(api.imports.delete, { importId: importId! }), notFound);
  const again = await uploadFile(cloud, bytes, body);
  assert.notEqual(again.importId, importId);
  const ofFile = await list({ filename: "d.mcap", includeDeleted: true });
  assert.deepEqual(
    ofFile.map(({ id, deleted }) => [id, deleted]),
    [
      [importId, true],
      [again.importId, false],
    ],
  );
});

test("an import is deleted in whatever way its recording's data is deleted", async () => {
  const { importId, recordingId } = await upload("by-recording.mcap");
  await admin.call(api.recordings.delete, { keyOrId: recordingId! });
  assert.deepEqual(await list({ filename: "by-recording.mcap" }), []);
  assert.equal((await list({ filename: "by-recording.mcap", includeDeleted: true }))[0]!.id, importId);
});

test("deleting the last import of an edge recording returns it to none; a re-import gets a new id", async () => {
  const agent = await startAgent(cloud, "edge");
  const bytes = await anotherMcap();
  const item = recordingItem({ size: bytes.length });
  await agent.report([item]);
  const { id } = (await admin.call(api.recordings.list, { deviceId: agent.deviceId }))[0]!;
  const importIds = [await importOnce(agent, id, { item, bytes })];
  await admin.call(api.imports.delete, { importId: importIds[0]!, deviceId: agent.deviceId });
  assert.equal(await statusOf(id), "none");
  importIds.push(await importOnce(agent, id, { item, bytes }));
  const found = await list({ deviceId: agent.deviceId, includeDeleted: true });
  assert.deepEqual(
    found.map((row) => [row.id, row.deleted]),
    [
      [importIds[0], true],
      [importIds[1], false],
    ],
  );
  await assert.rejects(admin.call(api.imports.delete, { importId: importIds[0]! }), notFound);
  assert.equal(await statusOf(id), "complete", "an import that is deleted already takes nothing with it");
});

async function importOnce(
  agent: TestAgent,
  id: string,
  file: { item: ReturnType<typeof recordingItem>; bytes: Uint8Array },
) {
  await admin.call(api.recordings.requestImport, { keyOrId: id });
  await deliver(agent, file.item, file.bytes);
  await untilRecording(cloud, id, ["complete"]);
  return (await prisma.recording.findUniqueOrThrow({ where: { id } })).importId!;
}

test("deviceId, which was once needed, is checked if it is given", async () => {
  const { importId } = await upload();
  const other = await admin.call(api.devices.create, { name: "other" });
  await assert.rejects(admin.call(api.imports.delete, { importId: importId!, deviceId: other.id }), notFound);
  assert.deepEqual(await admin.call(api.imports.delete, { importId: importId!, deviceId: robot.id }), { id: importId });
});

slowTest(
  "many imports are deleted by ids in the query, in the body or both; each id is answered success or notFound, in the given order",
  async () => {
    const [a, b, c] = [await upload(), await upload(), await upload()].map(({ importId }) => importId!);
    const results = async (response: Promise<Response>) => {
      const { deletionResults } = (await (await response).json()) as { deletionResults: object[] };
      return deletionResults;
    };
    assert.deepEqual(await results(deleteMany(`?id=${b}&id=imp_unknown`, { id: [a] })), [
      { importId: a, result: "success" },
      { importId: b, result: "success" },
      { importId: "imp_unknown", result: "notFound" },
    ]);
    assert.deepEqual(await results(deleteMany("", { id: [c, a, c] })), [
      { importId: c, result: "success" },
      { importId: a, result: "notFound" },
    ]);
    assert.deepEqual(await results(deleteMany(`?id/0=${b}&id/1=${c}`)), [
      { importId: b, result: "notFound" },
      { importId: c, result: "notFound" },
    ]);
  },
);

test("another organization's import is notFound, and stays", async () => {
  const other = await cloud.otherOrganization();
  const { importId, recordingId } = (await keptImport()).ended;
  const { deletionResults } = await other.call(api.imports.deleteMany, { id: [importId!] });
  assert.deepEqual(deletionResults, [{ importId, result: "notFound" }]);
  await assert.rejects(other.call(api.imports.delete, { importId: importId! }), notFound);
  const limited = cloud.withToken(
    await cloud.addKey(["data.imports.delete"], [(await admin.call(api.projects.create, { name: "second" })).id]),
  );
  await assert.rejects(limited.call(api.imports.delete, { importId: importId! }), notFound);
  assert.equal(await statusOf(recordingId!), "complete");
});

test("no ids are 400, and so are more than 50", async () => {
  const ids = Array.from({ length: 51 }, (_, number) => `imp_${number}`);
  for (const response of [deleteMany(""), deleteMany("", {}), deleteMany("", { id: [] }), deleteMany("", { id: ids })])
    assert.equal((await response).status, 400);
  assert.equal((await deleteMany(`?id=${ids[50]}`, { id: ids.slice(0, 50) })).status, 400, "together they are 51");
  assert.equal((await deleteMany(`?id=${ids[0]}`, { id: ids.slice(0, 50) })).status, 400, "repeated ones count");
  assert.equal((await deleteMany("", { id: ids.slice(0, 50) })).status, 200);
  assert.equal((await deleteMany("", { id: "imp_1" })).status, 400, "an array");
});

test("if any import belongs to a different site than the others, the whole request fails with 400 and nothing is deleted", async () => {
  const [{ ended: here }, there] = [await keptImport(), await upload()];
  const elsewhere = await admin.call(api.sites.create, { name: "elsewhere", type: "self-hosted" });
  await prisma.import.update({ where: { id: there.importId! }, data: { siteId: elsewhere.id } });
  const response = await deleteMany(`?id=${here.importId},${there.importId}`);
  assert.equal(response.status, 400);
  assert.match(((await response.json()) as { error: string }).error, new RegExp(`${site!.id}.*${elsewhere.id}`));
  assert.deepEqual([await statusOf(here.recordingId!), await statusOf(there.recordingId!)], ["complete", "complete"]);
});

slowTest("deletions of the same imports at the same time, in different orders, delete each once", async () => {
  const ids = await Promise.all(Array.from({ length: 6 }, async () => (await upload()).importId!));
  const orders = [ids, [...ids].reverse(), ids.slice(2), ids.slice(0, 4)];
  const answers = await Promise.all(orders.map((id) => admin.call(api.imports.deleteMany, { id })));
  const successes = answers.flatMap(({ deletionResults }) =>
    deletionResults.filter(({ result }) => result === "success"),
  );
  assert.deepEqual(successes.map(({ importId }) => importId).sort(), [...ids].sort());
});
