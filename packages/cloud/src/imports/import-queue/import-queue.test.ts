import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, type CallInput, edgeLimits, type QueuedImport } from "@downlink/protocol";
import { slowTest } from "@downlink/recordings/testing";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { askForFile, recordingItem, startAgent, type TestAgent } from "../../testing/test-agent.ts";
import { createRunningClock } from "../../testing/test-clock.ts";

const clock = createRunningClock();
const cloud = await startCloud({ after }, { works: false, clock });
const { admin } = cloud;
const { prisma } = cloud.deps.db;

type Query = CallInput<typeof api.importQueue.list>;
const list = (query: Query = {}, client = admin) => client.call(api.importQueue.list, query);
const codeOf = ([entry]: readonly QueuedImport[]) => entry!.waitsFor?.code;

async function reportAndRequest(agent: TestAgent, priorities: readonly number[]): Promise<string[]> {
  const items = priorities.map((_, i) => recordingItem({ path: `${i}.mcap`, size: 1000 + i }));
  await agent.report(items);
  const listed = await admin.call(api.recordings.list, { deviceId: agent.deviceId, sortBy: "path" });
  for (const [i, priority] of priorities.entries())
    await admin.call(api.recordings.requestImport, { keyOrId: listed[i]!.id, priority });
  return listed.map(({ id }) => id);
}

test("waiting files are listed in the order in which their agent gets them, with the requester and the place", async () => {
  const agent = await startAgent(cloud, "ordered");
  const ids = await reportAndRequest(agent, [0, 7, 0, -3, 7]);
  const queue = await list({ deviceName: "ordered" });
  const { imports } = (await agent.call(api.edge.work, {})).work;
  assert.deepEqual(
    queue.map(({ requestId, recordingId, priority, requestedAt }) => ({
      requestId,
      recordingId,
      priority,
      requestedAt,
    })),
    imports.map(({ requestId, recordingId, priority, requestedAt }) => ({
      requestId,
      recordingId,
      priority,
      requestedAt,
    })),
  );
  assert.deepEqual(
    queue.map(({ position }) => position),
    [1, 2, 3, 4, 5],
  );
  const [first] = queue;
  const { requestedAt, requestId, requestedBy, ...shown } = first!;
  assert.deepEqual(shown, {
    recordingId: ids[1],
    projectId: shown.projectId,
    device: { id: agent.deviceId, name: "ordered" },
    path: "1.mcap",
    size: 1001,
    priority: 7,
    position: 1,
    state: "waiting",
    bytesReceived: 0,
    waitsFor: { code: "AgentToStart", text: shown.waitsFor!.text },
  });
  assert.ok(requestedAt > 0n && requestId.startsWith("req_"));
  assert.deepEqual([requestedBy!.kind, typeof requestedBy!.name], ["apiKey", "string"]);
  assert.deepEqual(
    queue.slice(1).map(({ waitsFor }) => waitsFor!.code),
    Array(4).fill("BehindOthers"),
  );
  assert.deepEqual(await list({ deviceName: "ordered", limit: 2, offset: 3 }), queue.slice(3));
});

slowTest("an upload shows the bytes that are durable, and the rate that its agent reports", async () => {
  const size = edgeLimits.minPartBytes + 1;
  const { agent, requestId, recordingId, version } = await askForFile(cloud, "sending", recordingItem({ size }));
  const upload = await agent.call(api.edge.openUpload, version);
  const entry = async () => (await list({ deviceId: agent.deviceId }))[0]!;
  assert.deepEqual([(await entry()).state, (await entry()).bytesReceived], ["uploading", 0], "of an older agent");
  await agent.sendParts({ requestId, ...upload }, Buffer.alloc(edgeLimits.minPartBytes));
  const transfers = [{ recordingId, sentBytes: edgeLimits.minPartBytes, bytesPerSecond: 123_456 }];
  await agent.call(api.edge.status, { files: {}, problems: [], transfers });
  const { state, bytesReceived, bytesPerSecond, waitsFor } = await entry();
  assert.deepEqual(
    { state, bytesReceived, bytesPerSecond, waitsFor },
    { state: "uploading", bytesReceived: edgeLimits.minPartBytes, bytesPerSecond: 123_456, waitsFor: undefined },
  );
  await agent.call(api.edge.status, { files: {}, problems: [], transfers: [] });
  const idle = await entry();
  assert.deepEqual([idle.state, idle.bytesReceived], ["waiting", edgeLimits.minPartBytes], "what is durable stays");
});

slowTest("each state of an agent and its device shows what a file waits for", async () => {
  const { agent } = await askForFile(cloud, "troubled");
  const query = { deviceId: agent.deviceId };
  const until = clock.nowNs() + 3_600_000_000_000n;
  const throttle = { reason: "the upload rate is off", until };
  await agent.call(api.edge.status, { files: {}, problems: [], throttle });
  const [held] = await list(query);
  assert.deepEqual([held!.waitsFor!.code, held!.waitsFor!.until], ["UploadsHeldBack", until]);
  assert.match(held!.waitsFor!.text, /the upload rate is off/);
  clock.aheadNs += 3_600_000_000_000n;
  assert.equal(codeOf(await list(query)), "DeviceOffline");
  await admin.call(api.devices.update, { nameOrId: agent.deviceId, enabled: false });
  assert.equal(codeOf(await list(query)), "DeviceDisabled");
  assert.equal((await list(query))[0]!.position, undefined);
  await prisma.agent.update({ where: { deviceId: agent.deviceId }, data: { clonedAtNs: 1n } });
  assert.equal(codeOf(await list(query)), "AgentCloned");
});

test("a file that is delivered, cancelled or failed leaves the queue", async () => {
  const agent = await startAgent(cloud, "leaving");
  const ids = await reportAndRequest(agent, [0, 0]);
  await admin.call(api.recordings.cancelImport, { keyOrId: ids[0]! });
  const [left] = await list({ deviceName: "leaving" });
  assert.deepEqual([left!.recordingId, left!.position], [ids[1], 1]);
  const versionId = (await agent.call(api.edge.work, {})).work.imports[0]!.versionId;
  const failure = { requestId: left!.requestId, versionId, code: "FileGone", text: "gone" } as const;
  await agent.call(api.edge.failImport, failure);
  assert.deepEqual(await list({ deviceName: "leaving" }), []);
});

test("a site's queue is for its own agent, and devices that are disabled have no place in it", async () => {
  const site = await admin.call(api.sites.create, { name: "depot", type: "edge" });
  assert.deepEqual(await list({ edgeSiteId: site.id }), []);
  const agent = await startAgent(cloud, "at-depot");
  await reportAndRequest(agent, [0, 0, 0]);
  const row = await prisma.agent.update({
    where: { deviceId: agent.deviceId },
    data: { deviceId: null, siteId: site.id },
  });
  const off = await admin.call(api.devices.create, { name: "off", projectId: row.projectId! });
  await prisma.device.update({ where: { id: off.id }, data: { enabled: false } });
  const [first] = await list({ edgeSiteId: site.id });
  await prisma.importRequest.update({ where: { id: first!.requestId }, data: { deviceId: off.id } });
  const queue = await list({ edgeSiteId: site.id });
  assert.deepEqual(
    queue.map(({ position, edgeSite, waitsFor }) => [position, edgeSite!.name, waitsFor!.code]),
    [
      [undefined, "depot", "DeviceDisabled"],
      [1, "depot", "AgentToStart"],
      [2, "depot", "BehindOthers"],
    ],
  );
});

test("another organization has a queue of its own, and a key that is limited to a project counts and sees only that project's requests", async () => {
  const other = await cloud.otherOrganization();
  assert.deepEqual(await list({}, other), []);
  const agent = await startAgent(cloud, "shared");
  const ids = await reportAndRequest(agent, [2, 1, 0]);
  const notFound = refusedWith(404);
  await assert.rejects(list({ deviceId: agent.deviceId }, other), notFound);
  const elsewhere = await admin.call(api.projects.create, { name: "elsewhere" });
  const moved = { projectId: elsewhere.id };
  for (const id of ids.slice(1)) await prisma.importRequest.updateMany({ where: { recordingId: id }, data: moved });
  await prisma.recording.update({ where: { id: ids[2]! }, data: moved });
  const limited = cloud.withToken(await cloud.addKey(["data.imports.pending.list"], [elsewhere.id]));
  const seen = await list({}, limited);
  assert.deepEqual(
    seen.map(({ recordingId, position, priority }) => [recordingId, position, priority]),
    [
      [undefined, 1, 1],
      [ids[2], 2, 0],
    ],
  );
  await assert.rejects(list({ deviceId: agent.deviceId }, limited), notFound);
});
