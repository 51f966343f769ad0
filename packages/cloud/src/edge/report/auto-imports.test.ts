import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api } from "@downlink/protocol";
import { eventually } from "@downlink/recordings/testing";
import { partSizeFor } from "../../import-life/part-plans.ts";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { recordingItem, startAgent, type TestAgent } from "../../testing/test-agent.ts";

const cloud = await startCloud({ after });
const { admin } = cloud;
const MIB = 1024 * 1024;

const wanted = () => recordingItem({ wantsImport: true });

async function requestsFor(agent: TestAgent) {
  const { work } = await agent.call(api.edge.work, {});
  return work.imports.map(({ versionId, stage, priority }) => ({ versionId, stage, priority }));
}

async function recordingOf({ deviceId }: TestAgent) {
  const [recording] = await admin.call(api.recordings.list, { deviceId });
  return recording!;
}

test("files that match an agent's globs are requested once, however often they are reported, after whatever people ask for", async () => {
  const agent = await startAgent(cloud, "auto-once");
  const item = wanted();
  await agent.report([item, recordingItem()]);
  await agent.report([item]);
  assert.deepEqual(await requestsFor(agent), [{ versionId: item.versionId, stage: "deliver", priority: -10 }]);
  const recordings = await admin.call(api.recordings.list, { deviceId: agent.deviceId });
  assert.deepEqual(recordings.map(({ importStatus }) => importStatus).sort(), ["none", "pending"]);
});

test("a file that was reported before is requested once its report has such a glob", async () => {
  const agent = await startAgent(cloud, "auto-later");
  const item = recordingItem();
  await agent.report([item]);
  assert.deepEqual(await requestsFor(agent), []);
  await agent.report([{ ...item, wantsImport: true }]);
  assert.equal((await requestsFor(agent)).length, 1);
});

test("a request that a person cancelled is not made again", async () => {
  const agent = await startAgent(cloud, "auto-cancelled");
  const item = wanted();
  await agent.report([item]);
  const { id } = await recordingOf(agent);
  await admin.call(api.recordings.cancelImport, { keyOrId: id });
  await agent.report([item]);
  assert.equal((await recordingOf(agent)).importStatus, "none");
  assert.deepEqual(await requestsFor(agent), []);
});

test("a person who asks for a file that waits because of a glob moves it to the front", async () => {
  const agent = await startAgent(cloud, "auto-raised");
  const items = [wanted(), wanted()];
  await agent.report(items);
  const [first] = await admin.call(api.recordings.list, { deviceId: agent.deviceId });
  const asked = await admin.call(api.recordings.requestImport, { keyOrId: first!.id });
  assert.equal(asked.importStatus, "pending");
  const priorities = (await requestsFor(agent)).map(({ priority }) => priority);
  assert.deepEqual(priorities, [0, -10]);
});

test("an agent that waits for work hears at once of a request that its own report caused", async () => {
  const agent = await startAgent(cloud, "auto-woken");
  const { etag } = await agent.call(api.edge.work, {});
  const waiting = agent.call(api.edge.work, { etag, wait: 30 });
  await eventually(
    async () => cloud.deps.polls.waiting(agent.deviceId),
    (count) => count > 0,
  );
  await agent.report([wanted()]);
  assert.equal((await waiting).work.imports.length, 1);
});

test("settings for a device's agent are pushed to it, and never to one of another organization", async () => {
  const agent = await startAgent(cloud, "pushed");
  const { etag } = await agent.call(api.edge.work, {});
  const settings = {
    autoImport: ["**/*.mcap"],
    uploadRate: "Mon-Fri 08:00-18:00 1MB/s; * 10MB/s",
    uploadConcurrency: 3,
  };
  const nameOrId = agent.deviceId;
  assert.deepEqual(await admin.call(api.agentSettings.put, { nameOrId, ...settings }), settings);
  assert.deepEqual(await admin.call(api.agentSettings.get, { nameOrId }), settings);
  const answer = await agent.call(api.edge.work, { etag, wait: 30 });
  assert.deepEqual({ ...answer.work.settings, ...settings }, answer.work.settings);
  assert.deepEqual(await admin.call(api.agentSettings.put, { nameOrId }), {});
  const other = await cloud.otherOrganization();
  await assert.rejects(other.call(api.agentSettings.get, { nameOrId }), refusedWith(404));
  await assert.rejects(other.call(api.agentSettings.put, { nameOrId, ...settings }), refusedWith(404));
  await assert.rejects(admin.call(api.agentSettings.put, { nameOrId, uploadRate: "fast" }), /no rate/);
});

test("globs that no agent understands are refused, and those that were stored before are still sent", async () => {
  const { deviceId, call } = await startAgent(cloud, "globs");
  const { id: siteId } = await admin.call(api.sites.create, { name: "globs", type: "edge" });
  const headers = { authorization: `Bearer ${cloud.adminKey}`, "content-type": "application/json" };
  const refusals: [autoImport: string[], reason: RegExp][] = [
    [["a(b"], /at character 2: \( has no meaning here; write \\\\\(/],
    [["{a,b"], /a \{ has no \}/],
    [["a".repeat(501)], /500/],
    [Array(101).fill("a"), /100/],
    [Array(11).fill("a".repeat(500)), /5500 characters together; at most 5000/],
  ];
  for (const [autoImport, reason] of refusals) {
    for (const owner of [`devices/${deviceId}`, `sites/${siteId}`]) {
      const body = JSON.stringify({ autoImport });
      const answer = await fetch(`${cloud.url}/v1/${owner}/agent-settings`, { method: "PUT", headers, body });
      assert.equal(answer.status, 400);
      assert.match(await answer.text(), reason);
    }
  }
  await cloud.deps.db.prisma.device.update({
    where: { id: deviceId },
    data: { agentSettings: { autoImport: ["a(b"] } },
  });
  assert.deepEqual((await call(api.edge.work, {})).work.settings.autoImport, ["a(b"]);
  assert.deepEqual(await admin.call(api.agentSettings.get, { nameOrId: deviceId }), { autoImport: ["a(b"] });
});

test("on a slow link an upload is opened with smaller parts, as far as their number allows", async () => {
  assert.equal(partSizeFor(1), 16 * MIB);
  assert.equal(partSizeFor(1, 5 * MIB), 5 * MIB);
  assert.ok(partSizeFor(100_000 * MIB, 5 * MIB) > 5 * MIB);
  const agent = await startAgent(cloud, "slow");
  const item = wanted();
  await agent.report([item]);
  const { work } = await agent.call(api.edge.work, {});
  const { versionId, size, modifiedAt } = item;
  const facts = { requestId: work.imports[0]!.requestId, versionId, size, modifiedAt };
  const open = async (partSize?: number) => (await agent.call(api.edge.openUpload, { ...facts, partSize })).partSize;
  assert.deepEqual([await open(5 * MIB), await open()], [5 * MIB, 5 * MIB], "the size is fixed when it is opened");
});
