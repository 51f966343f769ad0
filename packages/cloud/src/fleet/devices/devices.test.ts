import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api } from "@downlink/protocol";
import { newId } from "../../db/ids.ts";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { recordingItem, startAgent } from "../../testing/test-agent.ts";

const cloud = await startCloud({ after }, { works: false });
const { admin } = cloud;

test("a device is created with defaults, and found by name and by id", async () => {
  const created = await admin.call(api.devices.create, { name: "r2-d2_v.1" });
  assert.match(created.id, /^dev_[0-9a-hjkmnp-tv-z]{26}$/);
  assert.deepEqual([created.enabled, created.remoteAccessEnabled, created.autoDeleteAfterImport], [true, true, false]);
  assert.deepEqual(await admin.call(api.devices.get, { nameOrId: "r2-d2_v.1" }), created);
  assert.deepEqual(await admin.call(api.devices.get, { nameOrId: created.id }), created);
});

test("a name that is taken is a 409 and changes nothing", async () => {
  await admin.call(api.devices.create, { name: "taken" });
  const before = await admin.call(api.devices.list, {});
  await assert.rejects(admin.call(api.devices.create, { name: "taken" }), refusedWith("NameTaken"));
  await admin.call(api.devices.create, { name: "other" });
  await assert.rejects(admin.call(api.devices.update, { nameOrId: "other", name: "taken" }), refusedWith("NameTaken"));
  assert.equal((await admin.call(api.devices.list, {})).length, before.length + 1);
});

test("if a device is named with another device's id, the name wins over the id", async () => {
  const first = await admin.call(api.devices.create, { name: "first" });
  const namesake = await admin.call(api.devices.create, { name: first.id });
  assert.equal((await admin.call(api.devices.get, { nameOrId: first.id })).id, namesake.id);
});

test("a name has 1 to 100 characters: letters, digits and _ . -", async () => {
  const longest = "x".repeat(100);
  assert.equal((await admin.call(api.devices.create, { name: longest })).name, longest);
  for (const name of ["", "x".repeat(101), "a b", "a/b", "ö", "a\n"]) {
    const response = await fetch(`${cloud.url}/v1/devices`, {
      method: "POST",
      headers: { authorization: `Bearer ${cloud.adminKey}`, "content-type": "application/json" },
      body: JSON.stringify({ name }),
    });
    assert.equal(response.status, 400, JSON.stringify(name));
  }
});

test("path parameters may hold %2F, %23, %3F, %25 and UTF-8: they are decoded after the routing", async () => {
  for (const nameOrId of ["a/b", "a#b", "a?b", "a%b", "a%2Fb", "Köln"])
    await assert.rejects(admin.call(api.devices.get, { nameOrId }), refusedWith("NotFound", `"${nameOrId}"`));
});

test("an update changes only the fields that are sent; an empty name means unchanged", async () => {
  await admin.call(api.devices.create, { name: "changing" });
  const updated = await admin.call(api.devices.update, {
    nameOrId: "changing",
    name: "",
    retainRecordingsSeconds: 0,
    autoDeleteAfterImport: true,
  });
  assert.deepEqual(
    [updated.name, updated.retainRecordingsSeconds, updated.autoDeleteAfterImport, updated.enabled],
    ["changing", 0, true, true],
  );
  assert.ok(updated.updatedAt > updated.createdAt);
});

test("lists are paged and sorted in a total order, and limit 0 is an empty list", async () => {
  const page = (offset: number) =>
    admin.call(api.devices.list, { sortBy: "name", sortOrder: "desc", limit: 2, offset });
  const [first, second] = [await page(0), await page(2)];
  const names = [...first, ...second].map(({ name }) => name);
  assert.deepEqual(names, [...names].sort().reverse());
  assert.equal(new Set(names).size, 4);
  assert.deepEqual(await admin.call(api.devices.list, { limit: 0 }), []);
});

test("a device can be deleted only when it has no data left", async () => {
  const agent = await startAgent(cloud, "full");
  const item = recordingItem();
  await agent.report([item]);
  await assert.rejects(admin.call(api.devices.delete, { nameOrId: "full" }), refusedWith("DeviceNotEmpty"));
  await agent.report([], { removals: [item.versionId] });
  assert.deepEqual(await admin.call(api.devices.delete, { nameOrId: "full" }), { id: agent.deviceId });
  await assert.rejects(agent.report([]), refusedWith("Unauthenticated"));
});

test("events count as data of a device, and deleted sessions do not", async () => {
  const { prisma } = cloud.deps.db;
  const { id: deviceId, orgId, projectId } = await admin.call(api.devices.create, { name: "annotated" });
  const times = { createdAtNs: 0n, updatedAtNs: 0n };
  const row = { orgId, projectId, deviceId, ...times };
  await prisma.session.create({ data: { ...row, id: newId("sess"), deletedAtNs: 1n } });
  const { id } = await prisma.event.create({
    data: { ...row, id: newId("evt"), startNs: 0n, endNs: 0n, metadata: {} },
  });
  await assert.rejects(admin.call(api.devices.delete, { nameOrId: "annotated" }), refusedWith("DeviceNotEmpty"));
  await prisma.event.delete({ where: { id } });
  assert.deepEqual(await admin.call(api.devices.delete, { nameOrId: "annotated" }), { id: deviceId });
});

test("creating and updating a device write events to the outbox", async () => {
  const { id, createdAt } = await admin.call(api.devices.create, { name: "listed" });
  await admin.call(api.devices.update, { nameOrId: id, enabled: false });
  const events = await cloud.deps.db.prisma.outboxEvent.findMany({
    where: { occurredAtNs: { gte: createdAt } },
    orderBy: { id: "asc" },
  });
  const shown = events.filter(({ payload }) => JSON.stringify(payload).includes(id));
  assert.deepEqual(
    shown.map(({ type }) => type),
    ["device.created", "device.updated"],
  );
});

test("with several projects projectId is required to create a device, and names may repeat", async () => {
  const org = await cloud.otherOrganization();
  const { id: projectId } = await org.call(api.projects.create, { name: "second" });
  await assert.rejects(org.call(api.devices.create, { name: "x" }), refusedWith("ProjectRequired"));
  const [first] = await org.call(api.projects.list, {});
  await org.call(api.devices.create, { name: "x", projectId });
  await org.call(api.devices.create, { name: "x", projectId: first!.id });
  await assert.rejects(org.call(api.devices.get, { nameOrId: "x" }), refusedWith("AmbiguousName"));
  assert.equal((await org.call(api.devices.get, { nameOrId: "x", projectId })).projectId, projectId);
});

test("a key that is limited to some projects sees only their devices", async () => {
  const second = await admin.call(api.projects.create, { name: "limited" });
  await admin.call(api.devices.create, { name: "inside", projectId: second.id });
  const limited = cloud.withToken(await cloud.addKey(["devices.list", "devices.create", "projects.list"], [second.id]));
  assert.deepEqual(
    (await limited.call(api.devices.list, {})).map(({ name }) => name),
    ["inside"],
  );
  assert.deepEqual(
    (await limited.call(api.projects.list, {})).map(({ name }) => name),
    ["limited"],
  );
  assert.equal((await limited.call(api.devices.create, { name: "alone" })).projectId, second.id);
  await assert.rejects(limited.call(api.devices.get, { nameOrId: "first" }), refusedWith("NotFound"));
});
