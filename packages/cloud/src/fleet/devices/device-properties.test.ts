import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, type PropertyChanges, type PropertyValueType } from "@downlink/protocol";
import { firstCases } from "@downlink/recordings/testing";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";

const cloud = await startCloud({ after }, { works: false });
const { admin } = cloud;

async function define(key: string, valueType: PropertyValueType, enumValues?: string[]) {
  await admin.call(api.customProperties.create, { key, label: key, resourceType: "device", valueType, enumValues });
}
await define("site", "string");
await define("weight", "number");
await define("active", "boolean");
await define("grade", "enum", ["a", "b"]);
await define("tools", "multi-enum", ["arm", "lidar", "cam"]);
await define("notes", "multiline-string");
await define("constructor", "string");
await admin.call(api.customProperties.create, {
  key: "of-event",
  label: "x",
  resourceType: "event",
  valueType: "string",
});

const create = (name: string, properties?: PropertyChanges) => admin.call(api.devices.create, { name, properties });
const update = (nameOrId: string, properties: PropertyChanges) =>
  admin.call(api.devices.update, { nameOrId, properties });
const historyOf = (nameOrId: string) => admin.call(api.devices.listPropertyHistory, { nameOrId });
async function namesOf(query: Parameters<typeof admin.call<typeof api.devices.list>>[1]) {
  return (await admin.call(api.devices.list, query)).map(({ name }) => name);
}

test("a new device may have values of every type, and its history starts then", async () => {
  const properties = {
    site: "Köln 🏭",
    weight: 1.5e-300,
    active: false,
    grade: "a",
    tools: ["cam", "arm"],
    notes: "a\nb",
  };
  const device = await create("typed", { ...properties, site: properties.site, constructor: null as never });
  assert.deepEqual(device.properties, properties);
  assert.deepEqual((await admin.call(api.devices.get, { nameOrId: "typed" })).properties, properties);
  const history = await historyOf("typed");
  assert.deepEqual(Object.fromEntries(history.map(({ key, value }) => [key, value])), properties);
  assert.ok(history.every(({ start, end }) => start === device.createdAt && end === undefined));
});

test("keys that are no custom properties of devices are ignored", async () => {
  const device = await create("ignoring", { site: "x", unknown: 1, "of-event": "x", "a key\0": "x", "": null });
  assert.deepEqual(device.properties, { site: "x" });
});

test("a value of the wrong type is 400 naming properties.key, and nothing is written", async () => {
  await create("strict", { site: "x" });
  const before = await admin.call(api.devices.list, {});
  await assert.rejects(create("never", { weight: "1" }), refusedWith("InvalidRequest", "properties.weight"));
  await assert.rejects(update("strict", { site: "y", grade: "c" }), refusedWith("InvalidRequest", "properties.grade"));
  await assert.rejects(update("strict", { tools: ["arm", "arm"] }), refusedWith("InvalidRequest", "properties.tools"));
  assert.deepEqual(await admin.call(api.devices.list, {}), before);
  assert.equal((await historyOf("strict")).length, 1);
});

test("keys not sent are unchanged; passing a null value unsets a property", async () => {
  await create("merged", { site: "a", weight: 1, constructor: "c" });
  assert.deepEqual((await update("merged", { site: null, active: true, constructor: null as never })).properties, {
    weight: 1,
    active: true,
  });
  const open = (await historyOf("merged")).filter(({ end }) => end === undefined);
  assert.deepEqual(open.map(({ key }) => key).sort(), ["active", "weight"]);
});

test("an update closes the open interval now and opens a new one; the two share that moment", async () => {
  await create("moving", { site: "a" });
  const device = await update("moving", { site: "b" });
  const [first, second] = await historyOf("moving");
  assert.deepEqual([first!.value, second!.value], ["a", "b"]);
  assert.equal(first!.end, second!.start);
  assert.ok(second!.start >= device.updatedAt);
  assert.equal(second!.end, undefined);
});

test("an equal value changes nothing: no history, no updatedAt and no event", async () => {
  const values = { site: "a", weight: 0, tools: ["arm"] };
  const before = await create("steady", values);
  const events = () => cloud.deps.db.prisma.outboxEvent.count({ where: { type: "device.updated" } });
  const shown = await events();
  const history = await historyOf("steady");
  assert.deepEqual(await update("steady", { ...values, weight: -0, active: null }), before);
  assert.deepEqual(await historyOf("steady"), history);
  assert.equal(await events(), shown);
  await update("steady", { weight: 1 });
  assert.equal(await events(), shown + 1);
});

test("updates of one device at the same moment lose no key and leave one open interval for each key", async () => {
  await create("contended");
  const changes: PropertyChanges[] = [];
  for (const round of firstCases(2, [0, 1, 2, 3]))
    changes.push({ site: `s${round}` }, { weight: round + 1 }, { active: round % 2 === 0 }, { notes: `n${round}` });
  await Promise.all(changes.map((change) => update("contended", change)));
  const { properties } = await admin.call(api.devices.get, { nameOrId: "contended" });
  const history = await historyOf("contended");
  const open = history.filter(({ end }) => end === undefined);
  assert.deepEqual(Object.keys(properties!).sort(), ["active", "notes", "site", "weight"]);
  assert.deepEqual(Object.fromEntries(open.map(({ key, value }) => [key, value])), properties);
  for (const key of Object.keys(properties!)) {
    const line = history.filter((interval) => interval.key === key);
    assert.deepEqual(
      line.slice(1).map(({ start }) => start),
      line.slice(0, -1).map(({ end }) => end),
    );
  }
});

test("the list is queried by terms prefixed properties.", async () => {
  const { id: projectId } = await admin.call(api.projects.create, { name: "queried" });
  const add = (name: string, properties: PropertyChanges) =>
    admin.call(api.devices.create, { name, properties, projectId });
  await add("q1", { site: "north dock", weight: 1.5, active: true, tools: ["arm", "lidar"] });
  await add("q2", { site: "south", weight: 2, active: false, tools: ["cam"] });
  await add("q3", { weight: 1.5 });
  const matches = async (query: string) => (await namesOf({ projectId, query, sortBy: "name" })).join(" ");
  assert.equal(await matches("properties.weight:1.50"), "q1 q3");
  assert.equal(await matches("properties.weight:1.5,2 properties.active:true"), "q1");
  assert.equal(await matches('properties.site:"north dock"'), "q1");
  assert.equal(await matches("properties.site:*"), "q1 q2");
  assert.equal(await matches("properties.tools:cam,lidar"), "q1 q2");
  assert.equal(await matches("*:south"), "q2");
  assert.equal(await matches("NORTH"), "q1");
  assert.equal(await matches("weigh"), "q1 q2 q3");
  assert.equal(await matches(""), "q1 q2 q3");
  await assert.rejects(matches('properties.site:"north'), refusedWith("InvalidRequest", "query"));
  await assert.rejects(matches("properties.:x"), refusedWith("InvalidRequest", "query"));
});

test("the list is sorted by a property: numbers by value, devices without a value last either way, and the id breaks ties", async () => {
  const { id: projectId } = await admin.call(api.projects.create, { name: "sorted" });
  const weights = [10, 9, -1, undefined, 9, 1e300, undefined];
  for (const [index, weight] of weights.entries())
    await admin.call(api.devices.create, { projectId, name: `w${index}`, properties: weight ? { weight } : {} });
  const sorted = (sortOrder: "asc" | "desc", offset = 0, limit = 2000) =>
    namesOf({ projectId, sortBy: "properties.weight", sortOrder, offset, limit });
  assert.deepEqual(await sorted("asc"), ["w2", "w1", "w4", "w0", "w5", "w3", "w6"]);
  assert.deepEqual(await sorted("desc"), ["w5", "w0", "w4", "w1", "w2", "w6", "w3"]);
  const paged = [await sorted("asc", 0, 3), await sorted("asc", 3, 3), await sorted("asc", 6, 3)];
  assert.deepEqual(paged.flat(), await sorted("asc"));
  const unknown = await namesOf({ projectId, sortBy: "properties.unknown" });
  assert.equal(unknown.length, weights.length);
});

for (const sortBy of ["weight", "properties.", "properties.a'b", `properties.${"x".repeat(33)}`, "createdAt; DROP"])
  test(`sortBy ${sortBy.slice(0, 20)} is 400`, async () => {
    const response = await fetch(`${cloud.url}/v1/devices?sortBy=${encodeURIComponent(sortBy)}`, {
      headers: { authorization: `Bearer ${cloud.adminKey}` },
    });
    assert.equal(response.status, 400);
  });
