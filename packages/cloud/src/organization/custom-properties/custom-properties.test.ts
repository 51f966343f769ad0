import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, type PropertyResourceType } from "@downlink/protocol";
import { firstCases, slowTest } from "@downlink/recordings/testing";
import { newId } from "../../db/ids.ts";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";

const cloud = await startCloud({ after }, { works: false });
const { admin } = cloud;
const { prisma } = cloud.deps.db;

let created = 0;
function create(changes: Partial<Parameters<typeof admin.call<typeof api.customProperties.create>>[1]> = {}) {
  created += 1;
  const defaults = { key: `key_${created}`, label: "Label", resourceType: "device", valueType: "string" } as const;
  return admin.call(api.customProperties.create, { ...defaults, ...changes });
}

/** Sends requests that the typed client would not send. */
async function send(method: string, path: string, body: unknown) {
  const response = await fetch(`${cloud.url}/v1/custom-properties${path}`, {
    method,
    headers: { authorization: `Bearer ${cloud.adminKey}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const valid = { key: "valid", label: "Valid", resourceType: "device", valueType: "string" };

test("a property is created, got and listed by resource type", async () => {
  const property = await create({ resourceType: "session", valueType: "number", label: "Länge 📏" });
  assert.match(property.id, /^cp_/);
  assert.equal(property.hasAssociatedData, false);
  assert.ok(!("enumValues" in property));
  assert.deepEqual(await admin.call(api.customProperties.get, { id: property.id }), property);
  const listed = await admin.call(api.customProperties.list, { resourceType: "session" });
  assert.deepEqual(listed, [property]);
  assert.deepEqual(await admin.call(api.customProperties.list, { limit: 0 }), []);
});

test("a custom property's key and label have 1 to 32 characters each; the key matches ^[A-Za-z0-9_-]+$", async () => {
  await create({ key: "k".repeat(32), label: "l".repeat(32) });
  for (const key of ["", "k".repeat(33), "a b", "a.b", "a/b", "ö", "a\n", "__proto__"])
    assert.equal((await send("POST", "", { ...valid, key })).status, 400, JSON.stringify(key));
  for (const label of ["", "l".repeat(33), undefined, "\0"])
    assert.equal((await send("POST", "", { ...valid, label })).status, 400, JSON.stringify(label));
  assert.equal((await send("POST", "", { ...valid, valueType: "date" })).status, 400);
  assert.equal((await send("POST", "", { ...valid, resourceType: "recording" })).status, 400);
  assert.equal((await send("POST", "", undefined)).status, 400);
});

test("a duplicate key per resource type is 409; another resource type and another organization may have it", async () => {
  const key = "duplicate";
  await create({ key });
  await assert.rejects(create({ key, label: "Other" }), refusedWith("NameTaken", `"${key}"`));
  await create({ key, resourceType: "event" });
  const other = await cloud.otherOrganization();
  const theirs = await other.call(api.customProperties.create, { ...valid, key } as never);
  await assert.rejects(admin.call(api.customProperties.get, { id: theirs.id }), refusedWith("NotFound"));
  await assert.rejects(admin.call(api.customProperties.delete, { id: theirs.id }), refusedWith("NotFound"));
  assert.deepEqual(await other.call(api.customProperties.list, {}), [theirs]);
});

test("an enum type needs at least one enumValues entry, and other types have none", async () => {
  for (const valueType of ["enum", "multi-enum"] as const) {
    await assert.rejects(create({ valueType }), refusedWith("InvalidRequest", "enumValues"));
    await assert.rejects(create({ valueType, enumValues: [] }), refusedWith("InvalidRequest", "enumValues"));
    assert.equal((await send("POST", "", { ...valid, valueType, enumValues: ["a", "a"] })).status, 400);
    await create({ valueType, enumValues: ["a"] });
  }
  await assert.rejects(create({ enumValues: ["a"] }), refusedWith("InvalidRequest", "enumValues"));
  await create({ enumValues: [] });
});

test("values is deprecated: it is accepted for enumValues, which wins, and is answered beside it", async () => {
  const aliased = await send("POST", "", { ...valid, key: "aliased", valueType: "enum", values: ["b", "a"] });
  assert.deepEqual(
    [aliased.body.values, aliased.body.enumValues],
    [
      ["b", "a"],
      ["b", "a"],
    ],
  );
  const both = { ...valid, key: "both", valueType: "enum", values: ["x"], enumValues: ["a"] };
  assert.deepEqual((await send("POST", "", both)).body.values, ["a"]);
  const added = await send("PATCH", `/${aliased.body.id}`, { values: ["a", "b", "c"] });
  assert.deepEqual(added.body.enumValues, ["a", "b", "c"]);
});

test("enumValues may be reordered or added to; they must be a superset of the existing values", async () => {
  const { id } = await create({ valueType: "enum", enumValues: ["a", "b"] });
  const update = (enumValues: string[]) => admin.call(api.customProperties.update, { id, enumValues });
  assert.deepEqual((await update(["c", "b", "a"])).enumValues, ["c", "b", "a"]);
  await assert.rejects(update(["a", "b"]), refusedWith("InvalidRequest", `enumValues must keep ["c"]`));
  await assert.rejects(update([]), refusedWith("InvalidRequest", "enumValues"));
  const text = await create();
  await assert.rejects(
    admin.call(api.customProperties.update, { id: text.id, enumValues: ["a"] }),
    refusedWith("InvalidRequest", "enumValues"),
  );
});

test("two updates at once do not drop each other's enum values", async () => {
  const { id } = await create({ valueType: "enum", enumValues: ["a"] });
  const adding = ["b", "c"].map((value) => admin.call(api.customProperties.update, { id, enumValues: ["a", value] }));
  const outcomes = await Promise.allSettled(adding);
  assert.equal(outcomes.filter(({ status }) => status === "fulfilled").length, 1);
});

test("the label can be changed; key, resource type and value type cannot; an empty body changes nothing", async () => {
  const property = await create();
  const body = { label: "New", key: "new", resourceType: "event", valueType: "number" };
  const updated = await send("PATCH", `/${property.id}`, body);
  assert.deepEqual(updated.body, { ...property, label: "New" });
  assert.deepEqual((await send("PATCH", `/${property.id}`, undefined)).body, updated.body);
  await assert.rejects(admin.call(api.customProperties.update, { id: "cp_unknown" }), refusedWith("NotFound"));
});

test("deleting a device custom property removes all its values", async () => {
  const [gone, kept] = [await create(), await create()];
  const properties = { [gone.key]: "x", [kept.key]: "y" };
  const device = await admin.call(api.devices.create, { name: "with-values", properties });
  await admin.call(api.devices.update, { nameOrId: device.id, properties: { [gone.key]: "z" } });
  assert.ok((await admin.call(api.customProperties.get, { id: gone.id })).hasAssociatedData);
  assert.deepEqual(await admin.call(api.customProperties.delete, { id: gone.id }), { id: gone.id });
  const left = await admin.call(api.devices.get, { nameOrId: device.id });
  assert.deepEqual(left.properties, { [kept.key]: "y" });
  const history = await admin.call(api.devices.listPropertyHistory, { nameOrId: device.id });
  assert.deepEqual(
    history.map(({ key }) => key),
    [kept.key],
  );
  const ignored = { nameOrId: device.id, properties: { [gone.key]: "again" } };
  assert.deepEqual((await admin.call(api.devices.update, ignored)).properties, { [kept.key]: "y" });
});

test("deleting a property leaves another organization's devices alone", async () => {
  const { key, id } = await create();
  const other = await cloud.otherOrganization();
  await other.call(api.customProperties.create, { ...valid, key } as never);
  const theirs = await other.call(api.devices.create, { name: "theirs", properties: { [key]: "kept" } });
  await admin.call(api.customProperties.delete, { id });
  assert.deepEqual((await other.call(api.devices.get, { nameOrId: theirs.id })).properties, { [key]: "kept" });
});

test("a property that only earlier states of devices had still has associated data", async () => {
  const { id, key } = await create();
  await admin.call(api.devices.create, { name: "had", properties: { [key]: "x" } });
  await admin.call(api.devices.update, { nameOrId: "had", properties: { [key]: null } });
  assert.ok((await admin.call(api.customProperties.get, { id })).hasAssociatedData);
});

/** Inserts a row of the resource that has a value of the property. */
async function addValue(
  resourceType: PropertyResourceType,
  key: string,
  inProject?: string,
): Promise<{ forget(): Promise<unknown> }> {
  const properties = resourceType === "device" ? { [key]: "x" } : undefined;
  const device = await admin.call(api.devices.create, { name: `has-${key}`, projectId: inProject, properties });
  const { orgId, projectId, id: deviceId } = device;
  const shared = { orgId, projectId, deviceId, properties: { [key]: "x" }, createdAtNs: 0n, updatedAtNs: 0n };
  if (resourceType === "device")
    return { forget: () => admin.call(api.devices.update, { nameOrId: device.id, properties: { [key]: null } }) };
  if (resourceType === "session") {
    const { id } = await prisma.session.create({ data: { ...shared, id: newId("sess") } });
    return { forget: () => prisma.session.update({ where: { id }, data: { deletedAtNs: 1n } }) };
  }
  const { id } = await prisma.event.create({
    data: { ...shared, id: newId("evt"), startNs: 0n, endNs: 0n, metadata: {} },
  });
  return { forget: () => prisma.event.delete({ where: { id } }) };
}

for (const resourceType of ["event", "session"] as const)
  test(`an ${resourceType} custom property can be deleted only when no ${resourceType} values use it: 409`, async () => {
    const { id, key } = await create({ resourceType });
    const value = await addValue(resourceType, key);
    assert.ok((await admin.call(api.customProperties.get, { id })).hasAssociatedData);
    await assert.rejects(admin.call(api.customProperties.delete, { id }), refusedWith("Conflict", key));
    await value.forget();
    assert.equal((await admin.call(api.customProperties.get, { id })).hasAssociatedData, false);
    assert.deepEqual(await admin.call(api.customProperties.delete, { id }), { id });
    await assert.rejects(admin.call(api.customProperties.get, { id }), refusedWith("NotFound"));
  });

for (const resourceType of ["event", "session"] as const)
  slowTest(`a value that only the oldest of many ${resourceType}s has counts as associated data`, async () => {
    const { id, key } = await create({ resourceType, key: `oldest_${resourceType}` });
    await addValue(resourceType, key);
    const { orgId, projectId, id: deviceId } = await admin.call(api.devices.create, { name: `busy-${resourceType}` });
    const newer = Array.from({ length: 600 }, () => ({ orgId, projectId, deviceId, createdAtNs: 1n, updatedAtNs: 1n }));
    const span = { startNs: 1n, endNs: 1n, metadata: {} };
    if (resourceType === "session")
      await prisma.session.createMany({ data: newer.map((row) => ({ ...row, id: newId("sess") })) });
    else await prisma.event.createMany({ data: newer.map((row) => ({ ...row, ...span, id: newId("evt") })) });
    assert.ok((await admin.call(api.customProperties.get, { id })).hasAssociatedData);
  });

test("a value that is written while its property is deleted remains nowhere", async () => {
  for (const round of firstCases(2, [0, 1, 2, 3, 4])) {
    const { id, key } = await create({ key: `race_${round}` });
    const device = await admin.call(api.devices.create, { name: `race-${round}` });
    const write = { nameOrId: device.id, properties: { [key]: "x" } };
    await Promise.all([
      admin.call(api.devices.update, write),
      admin.call(api.customProperties.delete, { id }),
      admin.call(api.devices.update, { ...write, properties: { [key]: "y" } }),
    ]);
    assert.deepEqual((await admin.call(api.devices.get, { nameOrId: device.id })).properties, {});
    assert.deepEqual(await admin.call(api.devices.listPropertyHistory, { nameOrId: device.id }), []);
  }
});

for (const resourceType of ["device", "event", "session"] as const)
  test(`whether ${resourceType}s have a value is answered for the projects that a key is limited to`, async () => {
    const { id, key } = await create({ resourceType, key: `listed_${resourceType}` });
    const projects = await Promise.all(
      ["with", "without"].map((name) => admin.call(api.projects.create, { name: `${name} ${resourceType}s` })),
    );
    const clients = await Promise.all(
      projects.map(async (project) => cloud.withToken(await cloud.addKey(["properties.list"], [project.id]))),
    );
    const shown = () =>
      Promise.all(
        clients.map(async (client) => {
          const { hasAssociatedData } = await client.call(api.customProperties.get, { id });
          const listed = await client.call(api.customProperties.list, { resourceType });
          assert.equal(listed.find((one) => one.id === id)!.hasAssociatedData, hasAssociatedData);
          return hasAssociatedData;
        }),
      );
    assert.deepEqual(await shown(), [false, false]);
    const value = await addValue(resourceType, key, projects[0]!.id);
    assert.deepEqual(await shown(), [true, false]);
    await value.forget();
    assert.deepEqual(await shown(), [resourceType === "device", false]);
  });
