import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, type CallInput, type ImportStatus } from "@downlink/protocol";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { recordingItem, startAgent, type TestAgent } from "../../testing/test-agent.ts";

const cloud = await startCloud({ after }, { works: false });
const { admin } = cloud;
const { prisma } = cloud.deps.db;

type Selection = CallInput<typeof api.importRequests.cancel>;
const requestImports = (body: CallInput<typeof api.importRequests.create>, client = admin) =>
  client.call(api.importRequests.create, body);
const cancel = (body: Selection, client = admin) => client.call(api.importRequests.cancel, body);
const setPriority = (body: CallInput<typeof api.importRequests.update>) => admin.call(api.importRequests.update, body);
const wantedOf = async (agent: TestAgent) => (await agent.call(api.edge.work, {})).work.imports;

/** Creates a device with recordings at the edge, in status none, by their paths. */
async function reportRecordings(name: string, count: number) {
  const agent = await startAgent(cloud, name);
  const items = Array.from({ length: count }, (_, i) => recordingItem({ path: `run/${i}.mcap` }));
  await agent.report(items);
  const listed = await admin.call(api.recordings.list, { deviceId: agent.deviceId, sortBy: "path" });
  return { agent, items, ids: listed.map(({ id }) => id) };
}

async function statusesOf(ids: readonly string[]): Promise<ImportStatus[]> {
  return Promise.all(ids.map(async (keyOrId) => (await admin.call(api.recordings.get, { keyOrId })).importStatus));
}

test("named recordings are queued once; a repeat changes nothing and counts them as already requested", async () => {
  const { agent, ids } = await reportRecordings("named", 3);
  assert.deepEqual(await requestImports({ recordingIds: [...ids, ids[0]!], priority: 5 }), {
    queued: 3,
    already: 0,
    refused: [],
  });
  assert.deepEqual(await requestImports({ recordingIds: ids }), { queued: 0, already: 3, refused: [] });
  const wanted = await wantedOf(agent);
  assert.deepEqual(wanted.map(({ recordingId }) => recordingId).sort(), ids.toSorted());
  assert.ok(wanted.every(({ priority, stage }) => priority === 5 && stage === "deliver"));
  const [row] = await prisma.importRequest.findMany({ where: { recordingId: ids[0]! } });
  assert.deepEqual([row!.deviceName, row!.filename], ["named", "run/0.mcap"]);
  assert.equal((row!.requestedBy as { kind: string }).kind, "apiKey");
});

test("each recording is judged by itself: one that does not exist, and one that no device has any more, is counted by reason", async () => {
  const { agent, items, ids } = await reportRecordings("mixed", 4);
  const [gone, failed, imported, idle] = ids as [string, string, string, string];
  await requestImports({ recordingIds: [gone, failed] });
  await agent.report([], { removals: [items[0]!.versionId] });
  const request = (await wantedOf(agent)).find(({ recordingId }) => recordingId === failed)!;
  const failure = { requestId: request.requestId, versionId: request.versionId, code: "FileUnreadable", text: "EIO" };
  await agent.call(api.edge.failImport, failure as CallInput<typeof api.edge.failImport>);
  await prisma.recording.update({ where: { id: imported }, data: { importStatus: "complete" } });
  assert.deepEqual(await requestImports({ recordingIds: [...ids, "rec_unknown", "rec_other"] }), {
    queued: 2,
    already: 1,
    refused: [
      { reason: "NotFound", count: 2 },
      { reason: "EdgeCopyGone", count: 1 },
    ],
  });
  assert.deepEqual(await statusesOf([failed, idle, gone]), ["pending", "pending", "failed"]);
  assert.equal((await admin.call(api.recordings.get, { keyOrId: failed })).failure, undefined);
});

test("a waiting agent hears of a bulk request, of another priority and of its cancellation at once", async () => {
  const { agent, ids } = await reportRecordings("waiting", 2);
  const receives = async (change: () => Promise<unknown>) => {
    const { etag } = await agent.call(api.edge.work, {});
    const [{ work }] = await Promise.all([agent.call(api.edge.work, { etag, wait: 20 }), change()]);
    return work.imports.map(({ priority }) => priority);
  };
  assert.deepEqual(await receives(() => requestImports({ recordingIds: ids })), [0, 0]);
  assert.deepEqual(await receives(() => setPriority({ recordingIds: [ids[1]!], priority: 9 })), [9, 0]);
  assert.deepEqual(await receives(() => cancel({ recordingIds: [ids[1]!] })), [0]);
});

test("only the priority of waiting requests is changed", async () => {
  const { ids } = await reportRecordings("prioritized", 3);
  const [waiting, alike, idle] = ids as [string, string, string];
  await requestImports({ recordingIds: [waiting, alike], priority: 1 });
  await setPriority({ recordingIds: [alike], priority: -7 });
  assert.deepEqual(await setPriority({ recordingIds: [...ids, "rec_unknown"], priority: -7 }), {
    changed: 1,
    already: 1,
    refused: [
      { reason: "NotFound", count: 1 },
      { reason: "NotWaiting", count: 1 },
    ],
  });
  const rows = await prisma.importRequest.findMany({ where: { recordingId: { in: ids } } });
  assert.deepEqual([rows.length, ...rows.map(({ priority }) => priority)], [2, -7, -7]);
  assert.deepEqual(await statusesOf([idle]), ["none"]);
});

test("waiting requests are cancelled; recordings without a request stay, and running or finished imports are refused", async () => {
  const { agent, ids } = await reportRecordings("cancelled", 4);
  const [waiting, idle, underWay, over] = ids as [string, string, string, string];
  await requestImports({ recordingIds: [waiting, underWay, over] });
  await prisma.recording.update({ where: { id: underWay }, data: { importStatus: "importing" } });
  await prisma.recording.update({ where: { id: over }, data: { importStatus: "complete" } });
  const answer = { cancelled: 1, already: 1, refused: [{ reason: "NotWaiting", count: 2 }] };
  assert.deepEqual(await cancel({ recordingIds: ids }), answer);
  assert.deepEqual(await cancel({ recordingIds: [waiting] }), { cancelled: 0, already: 1, refused: [] });
  assert.deepEqual(await statusesOf([waiting, idle]), ["none", "none"]);
  assert.ok((await wantedOf(agent)).every(({ recordingId }) => recordingId !== waiting));
});

test("another organization's recordings are not found, however they are selected", async () => {
  const { ids, agent } = await reportRecordings("ours", 2);
  const other = await cloud.otherOrganization();
  const refused = [{ reason: "NotFound", count: 2 }];
  assert.deepEqual(await requestImports({ recordingIds: ids }, other), { queued: 0, already: 0, refused });
  assert.deepEqual(await requestImports({ filter: { path: "run/0.mcap" } }, other), {
    queued: 0,
    already: 0,
    refused: [],
  });
  await assert.rejects(requestImports({ filter: { deviceId: agent.deviceId } }, other), refusedWith(404, /device/));
  assert.deepEqual(await statusesOf(ids), ["none", "none"]);
});

test("400 for ids together with a filter, for neither, for more than 2000 ids, and for a filter with an unknown name", async () => {
  const send = async (body: object) => {
    const headers = { authorization: `Bearer ${cloud.adminKey}`, "content-type": "application/json" };
    const answer = await fetch(`${cloud.url}/v1/data/import-requests`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
    return answer.status;
  };
  const tooMany = Array.from({ length: 2001 }, (_, i) => `rec_${i}`);
  const bodies = [{}, { recordingIds: ["a"], filter: {} }, { recordingIds: [] }, { recordingIds: tooMany }];
  for (const body of [...bodies, { filter: { importStatuses: ["none"] } }, { filter: { limit: 3 } }])
    assert.equal(await send(body), 400, JSON.stringify(body).slice(0, 80));
  assert.equal(await send({ recordingIds: tooMany.slice(1) }), 200);
});

test("many calls at the same moment for the same recordings queue each once, and a cancellation among them leaves nothing half done", async () => {
  const { ids } = await reportRecordings("raced", 40);
  const calls = Array.from({ length: 6 }, (_, i) => {
    const shuffled = i % 2 === 0 ? ids : ids.toReversed();
    return i === 3 ? cancel({ recordingIds: shuffled }) : requestImports({ recordingIds: shuffled });
  });
  await Promise.all(calls);
  const open = await prisma.importRequest.findMany({ where: { recordingId: { in: ids }, state: "awaiting" } });
  const recordings = await prisma.recording.findMany({ where: { id: { in: ids } } });
  assert.equal(recordings.length, ids.length);
  for (const { id, importStatus } of recordings)
    assert.equal(importStatus === "pending" ? 1 : 0, open.filter(({ recordingId }) => recordingId === id).length);
});

test("a filter selects what the list with the same filter shows, of the caller's projects only", async () => {
  const { ids, agent } = await reportRecordings("filtered", 5);
  const elsewhere = await admin.call(api.projects.create, { name: "elsewhere" });
  await prisma.recording.update({ where: { id: ids[4]! }, data: { projectId: elsewhere.id } });
  const limited = cloud.withToken(await cloud.addKey(["data.upload"], [elsewhere.id]));
  const filter = { importStatus: ["none"], path: "run/4.mcap" } satisfies Selection["filter"];
  assert.equal((await requestImports({ recordingIds: ids }, limited)).refused[0]!.count, 4);
  await cancel({ recordingIds: ids });
  assert.deepEqual(await requestImports({ filter: { importStatus: ["none"] } }, limited), {
    queued: 1,
    already: 0,
    refused: [],
  });
  assert.deepEqual(await statusesOf(ids), ["none", "none", "none", "none", "pending"]);
  assert.equal((await requestImports({ filter: { ...filter, deviceId: agent.deviceId } })).queued, 0);
  assert.equal((await requestImports({ filter: { deviceName: "filtered", start: 0n } })).queued, 4);
  assert.equal((await cancel({ filter: { deviceIds: [agent.deviceId, "dev_unknown"] } })).cancelled, 5);
  assert.equal((await requestImports({ filter: { deviceIds: ["dev_unknown"] } })).queued, 0);
  await assert.rejects(cancel({ filter: { deviceId: agent.deviceId } }, limited), refusedWith(404, /device/));
});
