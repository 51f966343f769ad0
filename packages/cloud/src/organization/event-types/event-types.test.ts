import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api } from "@downlink/protocol";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";

const cloud = await startCloud({ after }, { works: false });
const { admin } = cloud;
const other = await cloud.otherOrganization();
const { id: deviceId } = await admin.call(api.devices.create, { name: "robot" });

const property = (key: string, more: object = {}) =>
  admin.call(api.customProperties.create, { key, label: key, resourceType: "event", valueType: "string", ...more });
const severity = await property("severity", { valueType: "enum", enumValues: ["low", "high"], label: "Severity" });
const note = await property("note");
const ofDevices = await property("serial", { resourceType: "device" });

async function send(method: string, path: string, body?: unknown) {
  const response = await fetch(`${cloud.url}/v1/event-types${path}`, {
    method,
    headers: { authorization: `Bearer ${cloud.adminKey}`, "content-type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

test("an event type keeps its custom properties in order, and answers them resolved as `properties`", async () => {
  const created = await admin.call(api.eventTypes.create, {
    name: "fall",
    colorName: "red",
    customProperties: [
      { id: note.id, required: false },
      { id: severity.id, required: true },
    ],
  });
  assert.match(created.id, /^evtt_/);
  assert.equal(created.createdAt, created.updatedAt);
  assert.deepEqual(created.customProperties, [
    { id: note.id, required: false },
    { id: severity.id, required: true },
  ]);
  assert.deepEqual(created.properties, [
    { key: "note", label: "note", required: false, valueType: "string" },
    { key: "severity", label: "Severity", required: true, values: ["low", "high"], valueType: "enum" },
  ]);
  assert.deepEqual(await admin.call(api.eventTypes.get, { id: created.id }), created);
});

test("`properties` is never null: a type without any has an empty list", async () => {
  const { status, body } = await send("POST", "", { name: "bare", customProperties: [] });
  assert.equal(status, 200);
  assert.deepEqual([body.properties, body.customProperties], [[], []]);
  assert.ok(!("colorName" in body));
});

test("an event type's name and color name have 1 to 32 characters each", async () => {
  const longest = "ä".repeat(32);
  const created = await send("POST", "", { name: longest, colorName: longest, customProperties: [] });
  assert.deepEqual([created.status, created.body.name, created.body.colorName], [200, longest, longest]);
  for (const text of ["", "x".repeat(33), "a\0b", "\ud800", 7]) {
    assert.equal((await send("POST", "", { name: text, customProperties: [] })).status, 400, JSON.stringify(text));
    const colored = { name: "colored", colorName: text, customProperties: [] };
    assert.equal((await send("POST", "", colored)).status, 400, JSON.stringify(text));
  }
});

test("name and customProperties are required: without one of them, or without a body, it is 400", async () => {
  for (const body of [{ name: "n" }, { customProperties: [] }, undefined])
    assert.equal((await send("POST", "", body)).status, 400);
});

test("a name is unique in the organization, case-sensitively: 409", async () => {
  await admin.call(api.eventTypes.create, { name: "taken", customProperties: [] });
  const second = { name: "taken", customProperties: [] };
  await assert.rejects(admin.call(api.eventTypes.create, second), refusedWith("NameTaken", '"taken"'));
  const { id } = await admin.call(api.eventTypes.create, { name: "Taken", customProperties: [] });
  await assert.rejects(admin.call(api.eventTypes.update, { id, name: "taken" }), refusedWith("NameTaken"));
  assert.equal((await other.call(api.eventTypes.create, second)).name, "taken");
});

test("each custom property must be one of events that the organization has, and may stand once in the list", async () => {
  const create = (...ids: string[]) =>
    admin.call(api.eventTypes.create, { name: "new", customProperties: ids.map((id) => ({ id, required: true })) });
  const theirs = await other.call(api.customProperties.create, {
    key: "theirs",
    label: "Theirs",
    resourceType: "event",
    valueType: "string",
  });
  await assert.rejects(create(ofDevices.id), refusedWith("InvalidRequest", "customProperties.0.id"));
  await assert.rejects(create(note.id, "cp_unknown"), refusedWith("NotFound", "cp_unknown"));
  await assert.rejects(create(theirs.id), refusedWith("NotFound", theirs.id));
  const twice = [note.id, note.id].map((id) => ({ id, required: true }));
  assert.equal((await send("POST", "", { name: "new", customProperties: twice })).status, 400);
  assert.ok(!(await admin.call(api.eventTypes.list, {})).some(({ name }) => name === "new"));
});

test("an update changes the fields that are sent; `customProperties` replaces the whole list", async () => {
  const { id } = await admin.call(api.eventTypes.create, {
    name: "changing",
    colorName: "blue",
    customProperties: [
      { id: note.id, required: true },
      { id: severity.id, required: false },
    ],
  });
  const renamed = await admin.call(api.eventTypes.update, { id, name: "changed" });
  assert.deepEqual([renamed.name, renamed.colorName, renamed.customProperties.length], ["changed", "blue", 2]);
  const customProperties = [{ id: severity.id, required: true }];
  assert.deepEqual(
    (await admin.call(api.eventTypes.update, { id, customProperties })).customProperties,
    customProperties,
  );
  assert.deepEqual((await admin.call(api.eventTypes.update, { id, customProperties: [] })).customProperties, []);
  const unknown = admin.call(api.eventTypes.update, {
    id,
    name: "lost",
    customProperties: [{ id: "x", required: true }],
  });
  await assert.rejects(unknown, refusedWith("NotFound"));
  assert.equal((await admin.call(api.eventTypes.get, { id })).name, "changed");
});

test("an event type cannot be deleted while events use it: 409", async () => {
  const { id } = await admin.call(api.eventTypes.create, { name: "used", customProperties: [] });
  const event = await admin.call(api.events.create, { deviceId, start: 1n, end: 1n, eventTypeId: id });
  await assert.rejects(admin.call(api.eventTypes.delete, { id }), refusedWith("Conflict", id));
  await admin.call(api.events.update, { id: event.id, eventTypeId: "" });
  assert.deepEqual(await admin.call(api.eventTypes.delete, { id }), { id });
  await assert.rejects(admin.call(api.eventTypes.get, { id }), refusedWith("NotFound"));
  await assert.rejects(admin.call(api.eventTypes.delete, { id }), refusedWith("NotFound"));
});

test("another organization can neither see, change nor delete it: 404", async () => {
  const { id } = await admin.call(api.eventTypes.create, { name: "ours", customProperties: [] });
  await assert.rejects(other.call(api.eventTypes.get, { id }), refusedWith("NotFound"));
  await assert.rejects(other.call(api.eventTypes.update, { id, name: "x" }), refusedWith("NotFound"));
  await assert.rejects(other.call(api.eventTypes.delete, { id }), refusedWith("NotFound"));
  assert.ok(!(await other.call(api.eventTypes.list, {})).some(({ name }) => name === "ours"));
});

test("the list is in the order of creation and paged", async () => {
  const all = await admin.call(api.eventTypes.list, {});
  assert.deepEqual(
    all.map(({ id }) => id),
    all.map(({ id }) => id).toSorted(),
  );
  assert.deepEqual(await admin.call(api.eventTypes.list, { limit: 2, offset: 1 }), all.slice(1, 3));
  assert.deepEqual(await admin.call(api.eventTypes.list, { limit: 0 }), []);
});

test("a list resolves a large property in each of the types that have it", async () => {
  const mine = await cloud.otherOrganization();
  const enumValues = Array.from({ length: 1000 }, (_, n) => `${n}`.padStart(256, "x"));
  const { id } = await mine.call(api.customProperties.create, {
    ...{ key: "model", label: "Model", resourceType: "event", valueType: "enum" },
    enumValues,
  });
  const names = Array.from({ length: 5 }, (_, n) => `type ${n}`);
  const customProperties = [{ id, required: false }];
  for (const name of names) await mine.call(api.eventTypes.create, { name, customProperties });
  const types = await mine.call(api.eventTypes.list, { limit: 100 });
  assert.deepEqual(
    types.map(({ name }) => name),
    names,
  );
  for (const { properties } of types) assert.deepEqual(properties[0]!.values, enumValues);
});
