import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api } from "@downlink/protocol";
import { noteOffline } from "../../edge/standing/note-offline.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { sayHello, startAgent } from "../../testing/test-agent.ts";
import { createStoppedClock } from "../../testing/test-clock.ts";

const MINUTE_NS = 60_000_000_000n;
const clock = createStoppedClock(1_800_000_000_000_000_000n);
const cloud = await startCloud({ after }, { clock, works: false });
const { admin } = cloud;
const status = {
  files: { reported: 3, damaged: 1 },
  disk: { totalBytes: 1000, freeBytes: 10 },
  problems: [{ code: "WatchLimit", text: "too many", since: 5n }],
};

test("a device shows what its agent last reported about itself; a device without an agent shows none", async () => {
  const agent = await startAgent(cloud, "speaker");
  await agent.call(api.edge.status, status);
  await admin.call(api.devices.create, { name: "silent" });
  const device = await admin.call(api.devices.get, { nameOrId: agent.deviceId });
  assert.deepEqual(device.agent, {
    online: true,
    lastSeenAt: clock.atNs,
    version: "0.0.0-test",
    hostname: "robot",
    platform: "linux",
    arch: "x64",
    clockSkewMs: -Number(clock.atNs / 1_000_000n),
    cloned: false,
    status,
  });
  const listed = await admin.call(api.devices.list, {});
  assert.deepEqual(
    listed.map(({ name, agent: facts }) => [name, facts?.online]),
    [
      ["speaker", true],
      ["silent", undefined],
    ],
  );
});

test("a device whose agent's facts cannot be read is listed without them", async () => {
  const { deviceId } = await startAgent(cloud, "odd");
  const where = { deviceId };
  for (const facts of [{}, { host: "robot" }, [1]]) {
    await cloud.deps.db.prisma.agent.update({ where, data: { facts, status: facts } });
    const { agent } = await admin.call(api.devices.get, { nameOrId: deviceId });
    assert.deepEqual([agent?.online, agent?.hostname, agent?.status], [true, undefined, undefined]);
  }
});

test("an agent is online as long as its lease lives, renewed by any call", async () => {
  const agent = await startAgent(cloud, "keeper");
  const isOnline = async () => (await admin.call(api.devices.get, { nameOrId: "keeper" })).agent?.online;
  clock.atNs += MINUTE_NS - 1n;
  assert.equal(await isOnline(), true);
  await agent.report([]);
  clock.atNs += MINUTE_NS - 1n;
  assert.equal(await isOnline(), true);
  clock.atNs += 1n;
  assert.equal(await isOnline(), false);
});

test("a device that is not heard of for five minutes is reported as offline, once each time", async () => {
  const agent = await startAgent(cloud, "leaver");
  const shown = async () => {
    await noteOffline(cloud.deps);
    const where = { type: "device.offline", payload: { path: ["device", "id"], equals: agent.deviceId } };
    return cloud.deps.db.prisma.outboxEvent.count({ where });
  };
  clock.atNs += 6n * MINUTE_NS;
  assert.equal(await shown(), 0);
  clock.atNs += 1n;
  assert.equal(await shown(), 1);
  assert.equal(await shown(), 1);
  await agent.report([]);
  clock.atNs += 7n * MINUTE_NS;
  assert.equal(await shown(), 2);
});

test("an edge site shows its agent as well", async () => {
  const site = await admin.call(api.sites.create, { name: "depot", type: "edge" });
  const { token } = await admin.call(api.siteTokens.create, { siteId: site.id });
  assert.equal((await admin.call(api.sites.get, { id: site.id })).agent, undefined);
  await sayHello(cloud, { deviceId: "", token: token! });
  assert.equal((await admin.call(api.sites.get, { id: site.id })).agent?.online, true);
  assert.equal((await admin.call(api.sites.releaseAgent, { id: site.id })).agent?.cloned, false);
  const listed = await admin.call(api.sites.list, {});
  assert.equal(listed.find(({ id }) => id === site.id)?.agent?.hostname, "robot");
});
