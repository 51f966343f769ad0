import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, formatTimestamp, type PropertyValue } from "@downlink/protocol";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { createStoppedClock } from "../../testing/test-clock.ts";

const SECOND_NS = 1_000_000_000n;
const START_NS = 1_760_000_000n * SECOND_NS;
const time = createStoppedClock(START_NS);
const cloud = await startCloud({ after }, { works: false, clock: time });
const { admin } = cloud;

for (const key of ["floor", "zone"])
  await admin.call(api.customProperties.create, { key, label: key, resourceType: "device", valueType: "string" });
await admin.call(api.customProperties.create, { key: "load", label: "l", resourceType: "device", valueType: "number" });

const at = (seconds: number) => START_NS + BigInt(seconds) * SECOND_NS;
const update = (nameOrId: string, properties: Record<string, PropertyValue | null>) =>
  admin.call(api.devices.update, { nameOrId, properties });
type Edit = { key?: string; value?: PropertyValue; start: bigint; end: bigint };
const setPast = (nameOrId: string, edit: Edit) =>
  admin.call(api.devices.setPastProperty, { nameOrId, key: "floor", ...edit });
async function lineOf(nameOrId: string, query: Record<string, unknown> = {}) {
  const history = await admin.call(api.devices.listPropertyHistory, { nameOrId, ...query });
  return history.map(({ value, start, end }) => [value, secondsOf(start), end === undefined ? null : secondsOf(end)]);
}
function secondsOf(timeNs: bigint) {
  return Number((timeNs - START_NS) / SECOND_NS);
}

/** Creates a device that was on floor `1` from 0 s to 10 s and has been on `2` since; the time is 100 s now. */
async function createMoved(name: string) {
  time.atNs = at(0);
  await admin.call(api.devices.create, { name, properties: { floor: "1" } });
  time.atNs = at(10);
  await update(name, { floor: "2" });
  time.atNs = at(100);
  return name;
}

test("a past value splits, trims and deletes the intervals that it overlaps, and the current value stays", async () => {
  const name = await createMoved("edited");
  await setPast(name, { value: "0", start: at(-5), end: at(2) });
  assert.deepEqual(await lineOf(name), [
    ["0", -5, 2],
    ["1", 2, 10],
    ["2", 10, null],
  ]);
  await setPast(name, { value: "3", start: at(4), end: at(6) });
  assert.deepEqual(await lineOf(name), [
    ["0", -5, 2],
    ["1", 2, 4],
    ["3", 4, 6],
    ["1", 6, 10],
    ["2", 10, null],
  ]);
  await setPast(name, { value: "4", start: at(1), end: at(20) });
  assert.deepEqual(await lineOf(name), [
    ["0", -5, 1],
    ["4", 1, 20],
    ["2", 20, null],
  ]);
  await setPast(name, { value: "5", start: at(30), end: at(40) });
  assert.deepEqual((await lineOf(name)).slice(2), [
    ["2", 20, 30],
    ["5", 30, 40],
    ["2", 40, null],
  ]);
  const device = await admin.call(api.devices.get, { nameOrId: name });
  assert.deepEqual([device.properties, device.updatedAt], [{ floor: "2" }, at(10)]);
  time.atNs = at(200);
  await update(name, { floor: "6" });
  assert.deepEqual((await lineOf(name)).slice(4), [
    ["2", 40, 200],
    ["6", 200, null],
  ]);
});

test("an omitted value says that no value was set; so does null", async () => {
  const name = await createMoved("emptied");
  await setPast(name, { start: at(5), end: at(15) });
  assert.deepEqual(await lineOf(name), [
    ["1", 0, 5],
    ["2", 15, null],
  ]);
  await admin.call(api.devices.setPastProperty, {
    nameOrId: name,
    key: "floor",
    value: null,
    start: at(0),
    end: at(1),
  });
  assert.deepEqual(await lineOf(name), [
    ["1", 1, 5],
    ["2", 15, null],
  ]);
  assert.deepEqual((await admin.call(api.devices.get, { nameOrId: name })).properties, { floor: "2" });
});

test("start must be before end and both in the past, to the nanosecond; end is exclusive, so it may be now", async () => {
  const name = await createMoved("bounded");
  const before = await lineOf(name);
  for (const [start, end] of [
    [at(5), at(5)],
    [at(6), at(5)],
    [at(5), at(100) + 1n],
    [at(101), at(102)],
  ] as const)
    await assert.rejects(setPast(name, { value: "x", start, end }), refusedWith("InvalidRequest"));
  assert.deepEqual(await lineOf(name), before);
  await setPast(name, { value: "x", start: at(100) - 1n, end: at(100) });
  const history = await admin.call(api.devices.listPropertyHistory, { nameOrId: name });
  assert.deepEqual(
    history.slice(1).map(({ start, end }) => [start, end]),
    [
      [at(10), at(100) - 1n],
      [at(100) - 1n, at(100)],
      [at(100), undefined],
    ],
  );
});

test("key must be an existing device custom property key, and the value must be of its type", async () => {
  const name = await createMoved("typed");
  const edit = { value: "x", start: at(0), end: at(1) };
  await assert.rejects(setPast(name, { ...edit, key: "unknown" }), refusedWith("NotFound", `"unknown"`));
  await assert.rejects(setPast(name, { ...edit, key: "load" }), refusedWith("InvalidRequest", "value"));
  await assert.rejects(setPast("unknown", edit), refusedWith("NotFound"));
  await setPast(name, { ...edit, key: "load", value: 1.5 });
  const other = await cloud.otherOrganization();
  const nameOrId = (await admin.call(api.devices.get, { nameOrId: name })).id;
  await assert.rejects(
    other.call(api.devices.setPastProperty, { ...edit, nameOrId, key: "floor" }),
    refusedWith("NotFound"),
  );
});

test("success is 204 with an empty body", async () => {
  const name = await createMoved("silent");
  const response = await fetch(`${cloud.url}/v1/actions/devices/${name}/update-property-time-interval`, {
    method: "POST",
    headers: { authorization: `Bearer ${cloud.adminKey}`, "content-type": "application/json" },
    body: JSON.stringify({ key: "floor", value: "9", start: formatTimestamp(at(0)), end: formatTimestamp(at(1)) }),
  });
  assert.equal(response.status, 204);
  assert.equal(await response.text(), "");
});

test("the history is filtered by start (active on or after) and end (active before)", async () => {
  const name = await createMoved("filtered");
  assert.deepEqual(await lineOf(name, { start: at(9) }), [
    ["1", 0, 10],
    ["2", 10, null],
  ]);
  assert.deepEqual(await lineOf(name, { start: at(10) }), [["2", 10, null]], "an end is exclusive");
  assert.deepEqual(await lineOf(name, { end: at(10) }), [["1", 0, 10]]);
  assert.deepEqual(await lineOf(name, { end: at(10) + 1n }), [
    ["1", 0, 10],
    ["2", 10, null],
  ]);
  assert.deepEqual(await lineOf(name, { end: at(0) }), []);
  assert.deepEqual(await lineOf(name, { start: at(1000) }), [["2", 10, null]]);
});

test("the history's query uses no prefix; each term is about one interval", async () => {
  const name = await createMoved("searched");
  await update(name, { load: 1.5, zone: "Dock 2" });
  const values = async (query: string) => (await lineOf(name, { query })).map(([value]) => value);
  assert.deepEqual(await values("floor:1"), ["1"]);
  assert.deepEqual(await values("floor:1,2"), ["1", "2"]);
  assert.deepEqual(await values("load:1.50"), [1.5]);
  assert.deepEqual(await values("zone:*"), ["Dock 2"]);
  assert.deepEqual(await values("*:2"), ["2"]);
  assert.deepEqual(await values("dock"), ["Dock 2"]);
  assert.deepEqual(await values("floor:1 zone:*"), []);
  await assert.rejects(values('floor:"1'), refusedWith("InvalidRequest", "query"));
});

test("the history is sorted by id, key, start or end, by default by start, and paged in a total order", async () => {
  const name = await createMoved("sorted");
  time.atNs = at(110);
  await update(name, { zone: "a", load: 1 });
  await setPast(name, { key: "zone", value: "b", start: at(-9), end: at(3) });
  const list = (query: Record<string, unknown>) =>
    admin.call(api.devices.listPropertyHistory, { nameOrId: name, ...query });
  const startsOf = (intervals: Awaited<ReturnType<typeof list>>) => intervals.map(({ start }) => secondsOf(start));
  assert.deepEqual(startsOf(await list({})), [-9, 0, 10, 110, 110]);
  assert.deepEqual(
    (await list({ sortBy: "key" })).map(({ key, value }) => `${key} ${value}`),
    ["floor 1", "floor 2", "load 1", "zone b", "zone a"],
  );
  const ends = (await list({ sortBy: "end" })).map(({ end }) => end && secondsOf(end));
  assert.deepEqual(ends, [3, 10, undefined, undefined, undefined], "what is in effect ends last");
  const ids = (await list({ sortBy: "id", sortOrder: "desc" })).map(({ id }) => id);
  assert.deepEqual(ids, [...ids].sort().reverse());
  for (const sortBy of ["id", "key", "start", "end"])
    for (const sortOrder of ["asc", "desc"]) {
      const whole = await list({ sortBy, sortOrder });
      const pages = await Promise.all([0, 2, 4, 6].map((offset) => list({ sortBy, sortOrder, offset, limit: 2 })));
      assert.deepEqual(pages.flat(), whole);
    }
  assert.deepEqual(await list({ limit: 0 }), []);
});

test("one interval is found by its id, and only of its own device", async () => {
  const name = await createMoved("single");
  await createMoved("another");
  const [interval] = await admin.call(api.devices.listPropertyHistory, { nameOrId: name });
  assert.match(interval!.id, /^dpi_/);
  const got = await admin.call(api.devices.getPropertyInterval, { nameOrId: name, id: interval!.id });
  assert.deepEqual(got, interval);
  for (const ref of [
    { nameOrId: "another", id: interval!.id },
    { nameOrId: name, id: "dpi_unknown" },
  ])
    await assert.rejects(admin.call(api.devices.getPropertyInterval, ref), refusedWith("NotFound"));
});

test("values that are set while the clock stands still or goes back keep their order and never overlap", async () => {
  time.atNs = at(0);
  await admin.call(api.devices.create, { name: "hasty", properties: { floor: "1" } });
  await update("hasty", { floor: "2" });
  await update("hasty", { floor: null });
  time.atNs = at(-50);
  await update("hasty", { floor: "3" });
  const history = await admin.call(api.devices.listPropertyHistory, { nameOrId: "hasty" });
  assert.deepEqual(
    history.map(({ value, start, end }) => [value, start, end]),
    [
      ["1", at(0), at(0) + 1n],
      ["2", at(0) + 1n, at(0) + 2n],
      ["3", at(0) + 2n, undefined],
    ],
  );
});

test("deleting a device deletes its history", async () => {
  const name = await createMoved("deleted");
  const { id: deviceId } = await admin.call(api.devices.delete, { nameOrId: name });
  assert.equal(await cloud.deps.db.prisma.devicePropertyInterval.count({ where: { deviceId } }), 0);
});
