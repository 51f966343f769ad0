import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, edgeLimits, LEASE_HEADER } from "@downlink/protocol";
import { startCloud } from "../../testing/start-cloud.ts";
import { recordingItem, sayHello, startAgent, type TestAgent } from "../../testing/test-agent.ts";

const cloud = await startCloud({ after }, { works: false });
const { admin } = cloud;
const { prisma } = cloud.deps.db;

/** Inserts requests, each for a file of its own; the later ones are more urgent. */
async function ask({ deviceId }: TestAgent, count: number, errorText: string | null = null): Promise<void> {
  const { id, orgId, projectId } = await prisma.agent.findUniqueOrThrow({ where: { deviceId } });
  const [sample] = await prisma.importRequest.findMany({ where: { agentId: id }, take: 1 });
  const { id: _, requestedBy: __, ...like } = sample!;
  const data = Array.from({ length: count }, (_, n) => ({
    ...{ ...like, id: `req_${deviceId}_${n}`, orgId, projectId, versionId: `version-${String(n).padStart(12, "0")}` },
    ...{ priority: Math.floor((n * 10) / count), errorCode: errorText && "Odd", errorText, blobKey: null },
  }));
  for (let at = 0; at < count; at += 2000) await prisma.importRequest.createMany({ data: data.slice(at, at + 2000) });
}

async function startAsked(name: string, count: number, errorText?: string): Promise<TestAgent> {
  const agent = await startAgent(cloud, name);
  await agent.report([recordingItem()]);
  const [recording] = await admin.call(api.recordings.list, { deviceId: agent.deviceId });
  await admin.call(api.recordings.requestImport, { keyOrId: recording!.id });
  await ask(agent, count - 1, errorText);
  return agent;
}

const maxRequests = edgeLimits.requestsPerAnswer;

test("an agent with 25,000 requests gets the most urgent 10,000 at a time, and all of them in the end", async () => {
  const agent = await startAsked("busy", 25_000);
  const shown = new Set<string>();
  const sizes: number[] = [];
  for (let hasMore = true; hasMore; ) {
    const { work } = await agent.call(api.edge.work, { maxRequests });
    sizes.push(work.imports.length);
    const priorities = work.imports.map(({ priority }) => priority);
    assert.deepEqual(
      priorities,
      priorities.toSorted((a, b) => b - a),
    );
    const ids = work.imports.map(({ requestId }) => requestId);
    for (const id of ids) shown.add(id);
    hasMore = work.more === true;
    await prisma.importRequest.updateMany({ where: { id: { in: ids } }, data: { state: "complete" } });
    for (let at = 0; at < ids.length; at += 500) await agent.report([], { acknowledgements: ids.slice(at, at + 500) });
  }
  assert.deepEqual([sizes, shown.size], [[10_000, 10_000, 5000], 25_000]);
});

test("an older agent, which would take an absent request for a cancelled one, gets all requests", async () => {
  const agent = await startAsked("old", 10_500);
  const { work } = await agent.call(api.edge.work, {});
  assert.deepEqual([work.imports.length, work.more, work.cancelled], [10_500, undefined, undefined]);
});

test("an answer stays below 4 MiB, whatever the length of its reasons, and the etag covers every part of it", async () => {
  const agent = await startAsked("wordy", 9000, "ü".repeat(600));
  const headers = { authorization: `Bearer ${agent.token}`, [LEASE_HEADER]: String(agent.hello.lease) };
  const answer = await fetch(`${cloud.url}/v1/edge/work?maxRequests=${maxRequests}`, { headers });
  const text = await answer.text();
  assert.ok(Buffer.byteLength(text) <= edgeLimits.bytesPerWork, `${Buffer.byteLength(text)} bytes`);
  const { etag, work } = JSON.parse(text) as { etag: string; work: { more?: boolean; imports: unknown[] } };
  assert.ok(work.more === true && work.imports.length > 2000);
  const unseen = await prisma.importRequest.findFirstOrThrow({
    where: { deviceId: agent.deviceId, priority: 0 },
    orderBy: { createdAtNs: "desc" },
  });
  await prisma.importRequest.update({ where: { id: unseen.id }, data: { state: "cancelled" } });
  const next = await agent.call(api.edge.work, { maxRequests, etag, wait: 30 });
  assert.notEqual(next.etag, etag);
  assert.deepEqual(next.work.cancelled, [unseen.id]);
});

test("a cancelled request is listed until it is acknowledged, and not at all for an agent that notices its absence", async () => {
  const agent = await startAgent(cloud, "cancelling");
  await agent.report(Array.from({ length: 4 }, () => recordingItem()));
  const recordings = await admin.call(api.recordings.list, { deviceId: agent.deviceId });
  for (const { id } of recordings) await admin.call(api.recordings.requestImport, { keyOrId: id });
  const read = async () => (await agent.call(api.edge.work, { maxRequests: 2 })).work;
  const cancel = async (requestId: string) => {
    const { recordingId } = await prisma.importRequest.findUniqueOrThrow({ where: { id: requestId } });
    await admin.call(api.recordings.cancelImport, { keyOrId: recordingId! });
  };
  const before = await read();
  assert.deepEqual([before.imports.length, before.more, before.cancelled], [2, true, []]);
  const [first, second] = before.imports.map(({ requestId }) => requestId);
  await cancel(first!);
  assert.deepEqual([(await read()).more, (await read()).cancelled], [true, [first]]);
  await agent.report([], { acknowledgements: [first!] });
  assert.deepEqual((await read()).cancelled, []);
  await cancel(second!);
  const whole = await read();
  assert.deepEqual([whole.imports.length, whole.more, whole.cancelled], [2, undefined, undefined]);
  assert.equal((await prisma.importRequest.findUniqueOrThrow({ where: { id: second! } })).isAcknowledged, true);
});

test("requests of a device that is disabled at a site are listed as not wanted, and are wanted again later", async () => {
  const site = await admin.call(api.sites.create, { name: "yard", type: "edge" });
  const { token } = await admin.call(api.siteTokens.create, { siteId: site.id });
  const agent = await sayHello(cloud, { deviceId: "", token: token! });
  const items = ["quiet", "lively", "lively"].map((name) => recordingItem({ device: { name } }));
  await agent.report(items);
  for (const { id } of await admin.call(api.recordings.list, { edgeSiteId: site.id }))
    await admin.call(api.recordings.requestImport, { keyOrId: id });
  const { imports } = (await agent.call(api.edge.work, {})).work;
  const quiet = imports.find(({ versionId }) => versionId === items[0]!.versionId)!.requestId;
  await admin.call(api.devices.update, { nameOrId: "quiet", enabled: false });
  const { work } = await agent.call(api.edge.work, { maxRequests: 1 });
  assert.deepEqual([work.imports.length, work.more, work.cancelled], [1, true, [quiet]]);
  await agent.report([], { acknowledgements: [quiet] });
  await admin.call(api.devices.update, { nameOrId: "quiet", enabled: true });
  assert.equal((await agent.call(api.edge.work, {})).work.imports.length, 3);
});
