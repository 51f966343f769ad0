import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, type CallInput } from "@downlink/protocol";
import { eventually, makeMcap, slowTest } from "@downlink/recordings/testing";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { deliver, recordingItem, startAgent, type TestAgent } from "../../testing/test-agent.ts";

const cloud = await startCloud({ after });
const { admin } = cloud;
const { prisma } = cloud.deps.db;

type Wanted = Omit<CallInput<typeof api.edge.requestImports>, "versionIds">;

async function ask(agent: TestAgent, versionId: string, more: Wanted = {}) {
  const { answers } = await agent.call(api.edge.requestImports, { versionIds: [versionId], ...more });
  return answers[0]!.importStatus;
}

const requestsOf = (deviceId: string) => prisma.importRequest.findMany({ where: { deviceId } });

test("a file that somebody on the device requests is queued once, wakes the agent's poll, and says who requested it", async () => {
  const agent = await startAgent(cloud, "asking");
  const item = recordingItem();
  await agent.report([item]);
  const { etag } = await agent.call(api.edge.work, {});
  const [answer, status] = await Promise.all([
    agent.call(api.edge.work, { etag, wait: 20 }),
    ask(agent, item.versionId, { priority: 3 }),
  ]);
  assert.equal(status, "pending");
  assert.deepEqual(
    answer.work.imports.map(({ versionId, stage, priority }) => [versionId, stage, priority]),
    [[item.versionId, "deliver", 3]],
  );
  assert.equal(await ask(agent, item.versionId), "pending");
  const requests = await requestsOf(agent.deviceId);
  assert.deepEqual(
    requests.map(({ requestedBy }) => requestedBy),
    [{ kind: "device", id: agent.deviceId, name: "asking" }],
  );
});

slowTest(
  "a failed request is queued again; an imported file stays so, and its request says who requested it",
  async () => {
    const agent = await startAgent(cloud, "again");
    const bytes = await makeMcap({ seed: 1 });
    const item = recordingItem({ size: bytes.length });
    await agent.report([item]);
    await ask(agent, item.versionId);
    const { requestId } = (await agent.call(api.edge.work, {})).work.imports[0]!;
    const failure = { requestId, versionId: item.versionId, code: "FileUnreadable", text: "EIO" } as const;
    await agent.call(api.edge.failImport, failure);
    assert.equal(await ask(agent, item.versionId), "pending");
    await deliver(agent, item, bytes);
    const status = () => ask(agent, item.versionId);
    await eventually(status, (importStatus) => importStatus === "complete");
    const [shown] = await admin.call(api.pendingImports.list, { deviceId: agent.deviceId, showCompleted: true });
    assert.deepEqual(shown!.requestedBy, { kind: "device", id: agent.deviceId, name: "again" });
  },
);

test("a file that waits only because of a glob now waits because somebody requested it", async () => {
  const agent = await startAgent(cloud, "globbed");
  const item = recordingItem({ wantsImport: true });
  await agent.report([item]);
  const device = { id: agent.deviceId, name: "globbed" };
  assert.deepEqual((await requestsOf(agent.deviceId))[0]!.requestedBy, { kind: "autoImport", ...device });
  await ask(agent, item.versionId);
  const { priority, requestedBy } = (await requestsOf(agent.deviceId))[0]!;
  assert.deepEqual([priority, requestedBy], [0, { kind: "device", ...device }]);
});

test("an agent can request only its own files, and none that may be deleted at this moment", async () => {
  const agent = await startAgent(cloud, "mine");
  const stranger = await startAgent(cloud, "not-mine");
  const item = recordingItem();
  await agent.report([item]);
  assert.equal(await ask(stranger, item.versionId), undefined);
  assert.deepEqual(await requestsOf(agent.deviceId), []);
  await agent.call(api.edge.askPermits, { items: [{ versionId: item.versionId, reason: "prune" }] });
  assert.equal(await ask(agent, item.versionId), undefined);
});

test("somebody on the device requests a part of a file, which is asked for like any other part, and of no other agent's file", async () => {
  const [agent, other] = [await startAgent(cloud, "in-parts"), await startAgent(cloud, "not-in-parts")];
  const kind = { version: "v", encoding: "json", schemaName: "s", schemaEncoding: "", schemaSha256: "0".repeat(64) };
  const item = recordingItem({ topics: ["/imu", "/camera"].map((topic) => ({ ...kind, topic, messageCount: 3 })) });
  await agent.report([item]);
  const part = { versionId: item.versionId, topics: ["/cam*"], start: item.start + 1n };
  const asked = await agent.call(api.edge.requestImports, { versionIds: [], priority: 4, part });
  assert.deepEqual([asked.answers, asked.part?.importStatus], [[], "none"]);
  const [cut] = asked.part!.cuts!;
  assert.deepEqual([cut!.topics, cut!.start, cut!.end], [["/camera"], item.start + 1n, item.end]);
  const { requestedBy, priority } = await prisma.cut.findUniqueOrThrow({ where: { id: cut!.id } });
  assert.deepEqual([requestedBy, priority], [{ kind: "device", id: agent.deviceId, name: "in-parts" }, 4]);
  assert.equal((await agent.call(api.edge.work, {})).work.cuts?.[0]?.requestId, cut!.id);

  const unknown = { ...part, topics: ["/lidar"] };
  await assert.rejects(
    agent.call(api.edge.requestImports, { versionIds: [], part: unknown }),
    refusedWith(400, /topics/),
  );
  await assert.rejects(other.call(api.edge.requestImports, { versionIds: [], part }), refusedWith("NotFound"));
  assert.equal(await prisma.cut.count(), 1);
});
