import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, test } from "node:test";
import { api } from "@downlink/protocol";
import pg from "pg";
import { startCloud } from "../../testing/start-cloud.ts";
import { askForFile, brokenItem, sayHello, startAgent } from "../../testing/test-agent.ts";
import { createTestDatabase } from "../../testing/test-database.ts";

const DATABASE_URL = await createTestDatabase({ after });
const cloud = await startCloud({ after }, { works: false, environment: { DATABASE_URL } });
const { admin } = cloud;
const { prisma } = cloud.deps.db;
const listener = new pg.Client({ connectionString: DATABASE_URL });
const received: string[] = [];
before(async () => {
  await listener.connect();
  listener.on("notification", ({ payload }) => void received.push(payload!));
  await listener.query("LISTEN downlink_work");
});
after(() => listener.end());

/** Returns the owners that the change signals, each once and in order. Signals come in the order in which their changes were committed. */
async function signalledBy(change: () => Promise<unknown>): Promise<string[]> {
  await signalsUntil("the beginning"); // those of earlier changes
  await change();
  return [...new Set(await signalsUntil("the end"))].sort();
}

/** Sends a signal, and returns those that came before it. */
async function signalsUntil(last: string): Promise<string[]> {
  await prisma.$executeRaw`SELECT pg_notify('downlink_work', ${last})`;
  while (!received.includes(last)) await once(listener, "notification");
  return received.splice(0, received.indexOf(last) + 1).slice(0, -1);
}

test("every change of an agent's requests signals its owner, whoever makes the change", async () => {
  const { agent, requestId: id } = await askForFile(cloud, "requested");
  const where = { id };
  const changes = [
    () => prisma.importRequest.update({ where, data: { state: "received" } }),
    () => prisma.importRequest.update({ where, data: { priority: 3 } }),
    () => prisma.importRequest.update({ where, data: { errorText: "why" } }),
    () => prisma.importRequest.update({ where, data: { isAcknowledged: true } }),
    () => prisma.importRequest.update({ where, data: { isOver: true, isAcknowledged: false } }),
    () => prisma.importRequest.update({ where, data: { recordingId: null } }),
    () => prisma.importRequest.delete({ where }),
  ];
  for (const change of changes) assert.deepEqual(await signalledBy(change), [agent.deviceId], String(change));
});

test("a change that does not concern an agent, or is rolled back, signals nobody", async () => {
  const { agent, requestId: id } = await askForFile(cloud, "untouched");
  const where = { id };
  const changes = [
    () => prisma.importRequest.update({ where, data: { pipelineStage: "elsewhere", updatedAtNs: 7n, attempts: 3 } }),
    () => prisma.importRequest.update({ where, data: { state: "awaiting", priority: 0 } }),
    () => prisma.device.update({ where: { id: agent.deviceId }, data: { properties: { a: 1 }, name: "renamed" } }),
    () => agent.call(api.edge.status, { files: {}, problems: [] }),
    () =>
      prisma
        .$transaction(async (tx) => {
          await tx.importRequest.update({ where, data: { priority: 9 } });
          throw new Error("taken back");
        })
        .catch(() => undefined),
  ];
  for (const change of changes) assert.deepEqual(await signalledBy(change), [], String(change));
});

test("a salvage that is requested, and one that ended, signals the agent", async () => {
  const agent = await startAgent(cloud, "salvager");
  await agent.report([brokenItem({ salvage: { start: 1n, end: 2n } })]);
  const [file] = await admin.call(api.edgeFiles.list, { deviceId: agent.deviceId });
  assert.deepEqual(await signalledBy(() => admin.call(api.edgeFiles.salvage, { id: file!.id })), [agent.deviceId]);
  const end = () => prisma.salvageRequest.updateMany({ data: { state: "gone" } });
  assert.deepEqual(await signalledBy(end), [agent.deviceId]);
});

test("settings signal the agent of their device or site; disabling a device signals the site at which it has requests", async () => {
  const { deviceId } = await startAgent(cloud, "set");
  const settings = { autoImport: ["**/*.mcap"] };
  const changes = [
    () => admin.call(api.devices.update, { nameOrId: "set", retainRecordingsSeconds: 60 }),
    () => admin.call(api.agentSettings.put, { nameOrId: "set", ...settings }),
  ];
  for (const change of changes) assert.deepEqual(await signalledBy(change), [deviceId], String(change));
  const site = await admin.call(api.sites.create, { name: "depot", type: "edge" });
  assert.deepEqual(await signalledBy(() => admin.call(api.agentSettings.putOfSite, { id: site.id, ...settings })), [
    site.id,
  ]);
  const { token } = await admin.call(api.siteTokens.create, { siteId: site.id });
  await sayHello(cloud, { deviceId: "", token: token! });
  const { id: agentId } = await prisma.agent.findUniqueOrThrow({ where: { siteId: site.id } });
  const { requestId } = await askForFile(cloud, "asked-at-a-site");
  const { deviceId: asked } = await prisma.importRequest.update({ where: { id: requestId }, data: { agentId } });
  const disable = () => admin.call(api.devices.update, { nameOrId: "asked-at-a-site", enabled: false });
  assert.deepEqual(await signalledBy(disable), [asked!, site.id].sort());
});

test("a token that is disabled, deleted, or removed with its device or site signals all that wait with it", async () => {
  const { deviceId } = await startAgent(cloud, "waiter");
  const [token] = await admin.call(api.deviceTokens.list, { deviceId });
  const disable = () => admin.call(api.deviceTokens.update, { id: token!.id, enabled: false });
  assert.deepEqual(await signalledBy(disable), [deviceId]);
  assert.deepEqual(await signalledBy(() => admin.call(api.deviceTokens.delete, { id: token!.id })), [deviceId]);
  await admin.call(api.deviceTokens.create, { deviceId });
  assert.deepEqual(await signalledBy(() => admin.call(api.devices.delete, { nameOrId: deviceId })), [deviceId]);
  const site = await admin.call(api.sites.create, { name: "yard", type: "edge" });
  for (const end of ["token", "site"]) {
    const { id } = await admin.call(api.siteTokens.create, { siteId: site.id });
    const ends =
      end === "token" ? () => admin.call(api.siteTokens.delete, { id }) : () => admin.call(api.sites.delete, site);
    assert.deepEqual(await signalledBy(ends), [site.id], end);
  }
});
