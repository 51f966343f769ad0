import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, test } from "node:test";
import { api, INCARNATION_HEADER, LEASE_HEADER } from "@downlink/protocol";
import { eventually } from "@downlink/recordings/testing";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud, type TestCloud } from "../../testing/start-cloud.ts";
import { helloBody, recordingItem, sayHello, startAgent, type TestAgent } from "../../testing/test-agent.ts";
import { createTestDatabase } from "../../testing/test-database.ts";

const DATABASE_URL = await createTestDatabase({ after });
const cloud = await startCloud({ after }, { environment: { DATABASE_URL } });
const replica = await startCloud({ after }, { works: false, dataDir: cloud.dataDir, environment: { DATABASE_URL } });
const { admin } = cloud;
const { prisma } = cloud.deps.db;
/** A poll waits for 30 seconds. */
const inTime = { timeout: 20_000 };

/** Starts a poll that has nothing new to answer, and returns once it waits. */
async function startPoll(at: TestCloud, { call, ...agent }: TestAgent, waitsFor = agent.deviceId) {
  const { etag } = await call(api.edge.work, {});
  const headers = { [LEASE_HEADER]: String(agent.hello.lease) };
  const seen: { incarnation?: string | undefined } = {};
  const onHeaders = (answered: ReadonlyMap<string, string>) => {
    seen.incarnation = answered.get(INCARNATION_HEADER);
  };
  const poll = at.withToken(agent.token).call(api.edge.work, { wait: 30, etag }, { headers, onHeaders });
  poll.catch(() => {});
  await eventually(
    async () => at.deps.polls.waiting(waitsFor),
    (count) => count > 0,
  );
  return { poll, etag, seen };
}

async function tokenIdOf({ deviceId }: TestAgent): Promise<string> {
  return (await admin.call(api.deviceTokens.list, { deviceId }))[0]!.id;
}

test("a waiting poll ends when its token is disabled or revoked, also by another process", inTime, async () => {
  const ends = [
    (by: TestCloud, id: string) => by.admin.call(api.deviceTokens.update, { id, enabled: false }),
    (by: TestCloud, id: string) => by.admin.call(api.deviceTokens.delete, { id }),
  ];
  for (const [number, end] of ends.entries()) {
    for (const by of [cloud, replica]) {
      const agent = await startAgent(cloud, `revoked-${number}-${by === replica}`);
      const { poll } = await startPoll(cloud, agent);
      await end(by, await tokenIdOf(agent));
      await assert.rejects(poll, refusedWith("Unauthenticated"));
    }
  }
});

test("a poll ends when the device of its token is disabled, and says so", inTime, async () => {
  const agent = await startAgent(cloud, "disabled");
  const { poll } = await startPoll(replica, agent);
  await admin.call(api.devices.update, { nameOrId: agent.deviceId, enabled: false });
  assert.equal((await poll).work.settings.enabled, false);
});

test("a poll of a site's agent ends when its token is revoked, or its site deleted", inTime, async () => {
  for (const name of ["revoked", "deleted"]) {
    const site = await admin.call(api.sites.create, { name, type: "edge" });
    const { id, token } = await admin.call(api.siteTokens.create, { siteId: site.id });
    const agent = await sayHello(cloud, { deviceId: "", token: token! });
    const { poll } = await startPoll(cloud, agent, site.id);
    if (name === "revoked") await replica.admin.call(api.siteTokens.delete, { id });
    else await admin.call(api.sites.delete, { id: site.id });
    await assert.rejects(poll, refusedWith("Unauthenticated"));
  }
});

test("a poll checks by itself whether its token is still valid, because a signal may be lost", inTime, async () => {
  const agent = await startAgent(cloud, "unheard");
  const { poll } = await startPoll(cloud, agent);
  await prisma.$executeRaw`ALTER TABLE "DeviceToken" DISABLE TRIGGER "DeviceToken_tells_of_change"`;
  await prisma.deviceToken.updateMany({ where: { deviceId: agent.deviceId }, data: { enabled: false } });
  await prisma.$executeRaw`ALTER TABLE "DeviceToken" ENABLE TRIGGER "DeviceToken_tells_of_change"`;
  await assert.rejects(poll, refusedWith("Unauthenticated"));
});

test("a poll ends when its token expires, for which there is no signal", inTime, async () => {
  const agent = await startAgent(cloud, "expiring");
  const { poll } = await startPoll(cloud, agent);
  const data = { expiresAtNs: cloud.deps.clock.nowNs() };
  await prisma.credential.updateMany({ where: { deviceToken: { deviceId: agent.deviceId } }, data });
  await assert.rejects(poll, refusedWith("Unauthenticated"));
});

test("every answer to an agent names the incarnation as it is then, and not as it was when the process began", async () => {
  const agent = await startAgent(cloud, "named");
  for (const incarnation of [agent.hello.incarnation, randomUUID()]) {
    await prisma.deployment.update({ where: { id: 1 }, data: { incarnation } });
    const headers = { authorization: `Bearer ${agent.token}`, [LEASE_HEADER]: String(agent.hello.lease) };
    const named = async (path: string, init: RequestInit = {}) =>
      (await fetch(`${replica.url}/v1/edge/${path}`, { headers, ...init })).headers.get(INCARNATION_HEADER);
    assert.equal(await named("work"), incarnation);
    assert.equal(await named("status", { method: "POST", body: "{}" }), incarnation, "of a call that was refused");
    assert.equal(await named("imports/req_none/failed", { method: "POST" }), incarnation);
    assert.equal(await named("work", { headers: { authorization: "Bearer nobody" } }), null);
  }
});

test("a waiting poll ends when the cloud becomes another incarnation, with the same work", inTime, async () => {
  const agent = await startAgent(cloud, "waits");
  const { poll, etag, seen } = await startPoll(cloud, agent);
  const incarnation = randomUUID();
  await prisma.deployment.update({ where: { id: 1 }, data: { incarnation } });
  assert.equal((await poll).etag, etag);
  assert.equal(seen.incarnation, incarnation);
});

test("under another incarnation nothing is permitted before the agent has listed all its files, also in a process that began before", async () => {
  const agent = await startAgent(cloud, "restored");
  const item = recordingItem();
  await agent.report([item]);
  const ask = async ({ call }: TestAgent) => {
    const items = [{ versionId: item.versionId, reason: "prune" as const }];
    const [answer] = (await call(api.edge.askPermits, { items })).answers;
    return answer?.answer === "refused" ? answer.code : answer?.answer;
  };
  assert.equal(await ask(agent), "granted");
  await prisma.deployment.update({ where: { id: 1 }, data: { incarnation: randomUUID() } });
  assert.equal(await ask(agent), "Suspended");
  const again = await sayHello(cloud, { ...agent, lease: agent.hello.lease });
  assert.equal(again.hello.isInventoryKnown, false);
  await again.report([item], { listing: { id: "listing-1", isLast: true, count: 1 } });
  assert.equal(await ask(again), "granted");
});

test("an agent that held a later lease than the database knows gets a number above it, and is permitted nothing before it has listed all its files", async () => {
  const instanceId = "0123456789abcdef";
  const first = await startAgent(cloud, "set-back");
  const item = recordingItem();
  await first.report([item]);
  const agent = await sayHello(cloud, { ...first, instanceId, lease: first.hello.lease });
  const lease = agent.hello.lease + 40;
  await assert.rejects(
    cloud.withToken(first.token).call(api.edge.work, {}, { headers: { [LEASE_HEADER]: String(lease) } }),
    refusedWith("LeaseLost"),
  );
  const hello = helloBody({ instanceId, lease });
  const welcome = await cloud.withToken(first.token).call(api.edge.hello, hello);
  assert.deepEqual([welcome.lease, welcome.isInventoryKnown], [lease + 1, false]);
  const { listedIncarnation } = await prisma.agent.findUniqueOrThrow({ where: { deviceId: first.deviceId } });
  assert.equal(listedIncarnation, null);
});
