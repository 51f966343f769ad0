import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, MAX_EVENT_METADATA_CHARACTERS } from "@downlink/protocol";
import { Prisma } from "../../db/generated/client.ts";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";

const cloud = await startCloud({ after }, { works: false });
const { admin } = cloud;
const { prisma } = cloud.deps.db;
const other = await cloud.otherOrganization();
const robot = await admin.call(api.devices.create, { name: "robot" });

async function send(method: string, path: string, body?: unknown) {
  const response = await fetch(`${cloud.url}/v1/events${path}`, {
    method,
    headers: { authorization: `Bearer ${cloud.adminKey}`, "content-type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const property = (key: string, more: object = {}) =>
  admin.call(api.customProperties.create, { key, label: key, resourceType: "event", valueType: "string", ...more });
const severity = await property("severity", { valueType: "number" });
const note = await property("note");

const span = { start: 1_000_000_000_000_000_001n, end: 1_000_000_000_000_000_002n };
const create = (more: Partial<Parameters<typeof admin.call<typeof api.events.create>>[1]> = {}) =>
  admin.call(api.events.create, { deviceId: robot.id, ...span, ...more });
const at = "2026-01-02T03:04:05Z";

test("an event is created with its metadata and read again; it has both `deviceId` and `device`", async () => {
  const metadata = { grund: "Not-Aus 🛑", "": "", "a b:c": '"quoted"' };
  const event = await create({ metadata });
  assert.match(event.id, /^evt_/);
  assert.deepEqual([event.deviceId, event.device], [robot.id, { id: robot.id, name: "robot" }]);
  assert.deepEqual([event.start, event.end, event.metadata], [span.start, span.end, metadata]);
  assert.deepEqual([event.projectId, event.createdAt], [robot.projectId, event.updatedAt]);
  assert.deepEqual(await admin.call(api.events.get, { id: event.id }), event);
});

test("an event names its creator, by the name that a key had then, and keeps it when somebody else changes the event", async () => {
  const token = await cloud.addKey(["events.create", "events.update", "apiKeys.list"]);
  const key = (await admin.call(api.apiKeys.list, {})).at(-1)!;
  const createdBy = { kind: "apiKey", id: key.id, name: key.name };
  const { id, createdBy: answered } = await cloud
    .withToken(token)
    .call(api.events.create, { deviceId: robot.id, ...span });
  assert.deepEqual(answered, createdBy);
  await admin.call(api.apiKeys.update, { id: key.id, name: "renamed" });
  assert.deepEqual((await admin.call(api.events.update, { id, metadata: { a: "b" } })).createdBy, createdBy);
  assert.deepEqual((await admin.call(api.events.list, { eventId: id }))[0]!.createdBy, createdBy);
  await prisma.event.update({ where: { id }, data: { createdBy: Prisma.DbNull } });
  assert.equal((await admin.call(api.events.get, { id })).createdBy, undefined);
});

test("times have up to nine fractional digits and any offset, and are answered in UTC", async () => {
  const { status, body } = await send("POST", "", {
    deviceName: "robot",
    start: "2026-01-02T05:04:05.123456789+02:00",
    end: "2026-01-03",
  });
  assert.equal(status, 200);
  assert.deepEqual([body.start, body.end], ["2026-01-02T03:04:05.123456789Z", "2026-01-03T00:00:00Z"]);
  assert.deepEqual(body.metadata, {});
});

test("one of deviceId and deviceName is required; `device.id` and `device.name` are other names for them", async () => {
  assert.equal((await send("POST", "", { start: at, end: at })).status, 400);
  assert.equal((await send("POST", "", { deviceId: "", start: at, end: at })).status, 400);
  assert.equal((await send("POST", "", { deviceId: "dev_unknown", start: at, end: at })).status, 404);
  assert.equal((await send("POST", "", { deviceName: "unknown", start: at, end: at })).status, 404);
  for (const device of [{ "device.id": robot.id }, { "device.name": "robot" }])
    assert.equal((await send("POST", "", { ...device, start: at, end: at })).body.deviceId, robot.id);
});

test("start and end are required and both inclusive: an event may be an instant, and an end before its start is 400", async () => {
  for (const times of [{ start: at }, { end: at }, {}, { start: "yesterday", end: at }])
    assert.equal((await send("POST", "", { deviceId: robot.id, ...times })).status, 400);
  const instant = await create({ end: span.start });
  assert.equal(instant.start, instant.end);
  await assert.rejects(create({ end: span.start - 1n }), refusedWith("InvalidRequest", "end"));
  const { id } = instant;
  await assert.rejects(admin.call(api.events.update, { id, end: span.start - 1n }), refusedWith("InvalidRequest"));
  await assert.rejects(admin.call(api.events.update, { id, start: span.start + 1n }), refusedWith("InvalidRequest"));
  const moved = await admin.call(api.events.update, { id, start: 5n, end: 6n });
  assert.deepEqual([moved.start, moved.end], [5n, 6n]);
});

test("an event may reach from the first to the last time that can be expressed", async () => {
  const [start, end] = [-(2n ** 63n), 2n ** 63n - 1n];
  const event = await create({ start, end });
  assert.deepEqual([event.start, event.end], [start, end]);
});

test("event `metadata` maps strings to strings, must be storable and has limits", async () => {
  const limit = MAX_EVENT_METADATA_CHARACTERS;
  for (const metadata of [
    { n: 1 },
    { n: null },
    { n: ["a"] },
    [],
    "text",
    { a: "\0" },
    { "\ud800": "a" },
    { a: "x".repeat(limit) },
  ])
    assert.equal((await send("POST", "", { deviceId: robot.id, start: at, end: at, metadata })).status, 400);
  const largest = { a: "x".repeat(limit - 1) };
  assert.deepEqual((await create({ metadata: largest })).metadata, largest);
});

test("`metadata` in an update replaces all of it", async () => {
  const { id } = await create({ metadata: { a: "1", b: "2" } });
  assert.deepEqual((await admin.call(api.events.update, { id, metadata: { c: "3" } })).metadata, { c: "3" });
  assert.deepEqual((await admin.call(api.events.update, { id, metadata: {} })).metadata, {});
});

test("in `properties` unknown keys are ignored, keys that are not sent stay, null removes a value, and a value of another type is 400", async () => {
  const { id, properties } = await create({ properties: { severity: 3, note: "x", unknown: true } });
  assert.deepEqual(properties, { severity: 3, note: "x" });
  const updated = await admin.call(api.events.update, { id, properties: { note: null, other: 1 } });
  assert.deepEqual(updated.properties, { severity: 3 });
  const wrong = admin.call(api.events.update, { id, properties: { severity: "three" } });
  await assert.rejects(wrong, refusedWith("InvalidRequest", "properties.severity"));
});

test("an event with a type must have the properties that the type requires, on create and on update", async () => {
  const type = await admin.call(api.eventTypes.create, {
    name: "incident",
    customProperties: [
      { id: severity.id, required: true },
      { id: note.id, required: false },
    ],
  });
  const eventTypeId = type.id;
  await assert.rejects(create({ eventTypeId }), refusedWith("InvalidRequest", "properties.severity"));
  await assert.rejects(create({ eventTypeId, properties: { severity: null } }), refusedWith("InvalidRequest"));
  const { id } = await create({ eventTypeId, properties: { severity: 0 } });
  const unset = admin.call(api.events.update, { id, properties: { severity: null } });
  await assert.rejects(unset, refusedWith("InvalidRequest", '"incident"'));
  const bare = await create();
  await assert.rejects(admin.call(api.events.update, { id: bare.id, eventTypeId }), refusedWith("InvalidRequest"));
  const typed = await admin.call(api.events.update, { id: bare.id, eventTypeId, properties: { severity: 1 } });
  assert.deepEqual([typed.eventTypeId, typed.properties], [eventTypeId, { severity: 1 }]);
});

test("a property that becomes required later is demanded when type or properties change, and not before", async () => {
  const { id: eventTypeId } = await admin.call(api.eventTypes.create, { name: "later", customProperties: [] });
  const { id } = await create({ eventTypeId });
  await admin.call(api.eventTypes.update, { id: eventTypeId, customProperties: [{ id: note.id, required: true }] });
  assert.deepEqual((await admin.call(api.events.update, { id, metadata: { a: "b" } })).metadata, { a: "b" });
  await assert.rejects(
    admin.call(api.events.update, { id, properties: { severity: 1 } }),
    refusedWith("InvalidRequest"),
  );
  await assert.rejects(admin.call(api.events.update, { id, eventTypeId }), refusedWith("InvalidRequest"));
});

test("an empty `eventTypeId` removes the type; an unknown one and another organization's are 404", async () => {
  const { id: eventTypeId } = await admin.call(api.eventTypes.create, { name: "removed", customProperties: [] });
  const { id: theirs } = await other.call(api.eventTypes.create, { name: "theirs", customProperties: [] });
  const { id } = await create({ eventTypeId });
  assert.equal((await admin.call(api.events.update, { id, eventTypeId: "" })).eventTypeId, undefined);
  for (const unknown of ["evtt_unknown", theirs]) {
    await assert.rejects(create({ eventTypeId: unknown }), refusedWith("NotFound", unknown));
    await assert.rejects(admin.call(api.events.update, { id, eventTypeId: unknown }), refusedWith("NotFound", unknown));
  }
});

test("`projectId` disambiguates lookups: a name in two projects needs it, and an id of another project is 404", async () => {
  const second = await admin.call(api.projects.create, { name: "second" });
  const twin = await admin.call(api.devices.create, { name: "twin", projectId: second.id });
  await admin.call(api.devices.create, { name: "twin", projectId: robot.projectId });
  const named = { deviceId: undefined, deviceName: "twin" };
  await assert.rejects(create(named), refusedWith("AmbiguousName"));
  const event = await create({ ...named, projectId: second.id });
  assert.deepEqual([event.deviceId, event.projectId], [twin.id, second.id]);
  await assert.rejects(create({ projectId: second.id }), refusedWith("NotFound"));
});

test("an update with equal values, or with an empty body, leaves the event as it is", async () => {
  const event = await create({ metadata: { a: "1", b: "2" }, properties: { severity: 1 } });
  const same = { start: event.start, metadata: { b: "2", a: "1" }, properties: { severity: 1, note: null } };
  assert.deepEqual(await admin.call(api.events.update, { id: event.id, ...same }), event);
  assert.equal((await send("PATCH", `/${event.id}`)).body.id, event.id);
});

test("creating and updating write `event.created` and `event.updated` with the event's id, and nothing if nothing changed", async () => {
  const { id, projectId } = await create({ metadata: { a: "1" } });
  await admin.call(api.events.update, { id, metadata: { a: "2" } });
  await admin.call(api.events.update, { id, metadata: { a: "2" } });
  await assert.rejects(admin.call(api.events.update, { id, end: span.start - 1n }));
  const written = await prisma.outboxEvent.findMany({
    orderBy: { id: "asc" },
    where: { type: { startsWith: "event." } },
  });
  const ofThis = written.filter(({ payload }) => (payload as { event: { id: string } }).event.id === id);
  assert.deepEqual(
    ofThis.map((row) => [row.type, row.projectId, row.payload]),
    [
      ["event.created", projectId, { event: { id } }],
      ["event.updated", projectId, { event: { id } }],
    ],
  );
});

test("changes of one event at the same time are all kept", async () => {
  const { id } = await create({ properties: { severity: 1 } });
  const before = await admin.call(api.events.get, { id });
  await Promise.all([
    admin.call(api.events.update, { id, properties: { note: "kept" } }),
    admin.call(api.events.update, { id, properties: { severity: 2 } }),
    admin.call(api.events.update, { id, metadata: { also: "kept" } }),
    admin.call(api.events.update, { id, end: before.end + 1n }),
  ]);
  const event = await admin.call(api.events.get, { id });
  assert.deepEqual(event.properties, { severity: 2, note: "kept" });
  assert.deepEqual([event.metadata, event.end], [{ also: "kept" }, before.end + 1n]);
});

test("a deleted event is gone: delete answers `{id}`, and later 404", async () => {
  const { id } = await create();
  assert.deepEqual(await admin.call(api.events.delete, { id }), { id });
  await assert.rejects(admin.call(api.events.get, { id }), refusedWith("NotFound", id));
  await assert.rejects(admin.call(api.events.delete, { id }), refusedWith("NotFound"));
  await assert.rejects(admin.call(api.events.update, { id, end: 1n }), refusedWith("NotFound"));
});

test("another organization, and a key of another project, can neither see, change nor delete an event: 404", async () => {
  const { id } = await create();
  const elsewhere = await admin.call(api.projects.create, { name: "elsewhere" });
  const key = await cloud.addKey(["events.list", "events.update", "events.delete", "events.create"], [elsewhere.id]);
  for (const stranger of [other, cloud.withToken(key)]) {
    await assert.rejects(stranger.call(api.events.get, { id }), refusedWith("NotFound"));
    await assert.rejects(stranger.call(api.events.update, { id, end: span.end }), refusedWith("NotFound"));
    await assert.rejects(stranger.call(api.events.delete, { id }), refusedWith("NotFound"));
    await assert.rejects(stranger.call(api.events.create, { deviceId: robot.id, ...span }), refusedWith("NotFound"));
    assert.deepEqual(await stranger.call(api.events.list, { eventId: id }), []);
  }
});

test("a device with events is not deleted", async () => {
  const device = await admin.call(api.devices.create, { name: "annotated", projectId: robot.projectId });
  const { id } = await create({ deviceId: device.id });
  await assert.rejects(admin.call(api.devices.delete, { nameOrId: device.id }), refusedWith("DeviceNotEmpty"));
  await admin.call(api.events.delete, { id });
  await admin.call(api.devices.delete, { nameOrId: device.id });
});
