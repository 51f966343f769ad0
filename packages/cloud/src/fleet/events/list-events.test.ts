import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, type CallInput, type Event } from "@downlink/protocol";
import { propertyRuns } from "@downlink/recordings/testing";
import fc from "fast-check";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { createStoppedClock } from "../../testing/test-clock.ts";

const clock = createStoppedClock(1_700_000_000_000_000_000n, { stepNs: 1n });
const cloud = await startCloud({ after }, { works: false, clock });
const { admin } = cloud;
const devices = await Promise.all(["b", "a", "c"].map((name) => admin.call(api.devices.create, { name })));
const eventType = await admin.call(api.eventTypes.create, { name: "fall", customProperties: [] });
await admin.call(api.customProperties.create, {
  key: "zone",
  label: "Zone",
  resourceType: "event",
  valueType: "string",
});

/** Spans between 0 and 99 in all relations to each other, some equal, some instants; the last ones are at the ends of time. */
const spans = Array.from({ length: 40 }, (_, i) => ({
  start: BigInt((i * 37) % 100),
  end: BigInt(((i * 37) % 100) + (i % 5) * 4),
}));
const [firstTime, lastTime] = [-(2n ** 63n), 2n ** 63n - 1n];
spans.push({ start: firstTime, end: 50n }, { start: 50n, end: lastTime }, { start: lastTime - 1n, end: lastTime - 1n });
spans.push({ start: lastTime, end: lastTime });
const events: Event[] = [];
for (const [i, span] of spans.entries())
  events.push(
    await admin.call(api.events.create, {
      deviceId: devices[i % 3]!.id,
      ...span,
      eventTypeId: i % 4 === 0 ? eventType.id : undefined,
      metadata: { number: String(i), parity: i % 2 === 0 ? "even" : "odd" },
      properties: i % 3 === 0 ? { zone: `Halle ${i % 2}` } : {},
    }),
  );
for (const i of [7, 3, 20]) {
  const { id, metadata } = events[i]!;
  events[i] = await admin.call(api.events.update, { id, metadata: { ...metadata, touched: "yes" } });
}

type ListQuery = CallInput<typeof api.events.list>;
const list = (query: ListQuery) => admin.call(api.events.list, query);
const ids = (found: readonly Event[]) => found.map(({ id }) => id);

async function send(query: string) {
  const headers = { authorization: `Bearer ${cloud.adminKey}` };
  const response = await fetch(`${cloud.url}/v1/events?${query}`, { headers });
  return { status: response.status, body: (await response.json()) as Event[] };
}

const sortKeys = {
  id: (event: Event) => event.id,
  deviceId: (event: Event) => event.deviceId,
  "device.id": (event: Event) => event.deviceId,
  deviceName: (event: Event) => event.device.name,
  "device.name": (event: Event) => event.device.name,
  start: (event: Event) => event.start,
  createdAt: (event: Event) => event.createdAt,
  updatedAt: (event: Event) => event.updatedAt,
} as const;

/** Computes what the specification says about a query, over the events in memory. */
function expected({ start, end, createdAfter, updatedAfter, deviceId, eventTypeId, ...query }: ListQuery): string[] {
  const key = sortKeys[query.sortBy ?? "createdAt"];
  const compare = (a: Event, b: Event) => order(key(a), key(b)) || order(a.id, b.id);
  if (start !== undefined && end !== undefined && start > end) return [];
  const found = events
    .filter((event) => (start === undefined || event.end >= start) && (end === undefined || event.start <= end))
    .filter((event) => createdAfter === undefined || event.createdAt > createdAfter)
    .filter((event) => updatedAfter === undefined || event.updatedAt > updatedAfter)
    .filter((event) => deviceId === undefined || event.deviceId === deviceId)
    .filter((event) => eventTypeId === undefined || event.eventTypeId === eventTypeId)
    .toSorted(query.sortOrder === "desc" ? (a, b) => compare(b, a) : compare);
  return ids(found.slice(query.offset, query.offset! + query.limit!));
}

function order<T extends bigint | string>(a: T, b: T): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const time = fc.oneof(fc.bigInt(-1n, 120n), fc.constantFrom(firstTime, lastTime - 1n, lastTime));
const queries = fc.record({
  start: maybe(time),
  end: maybe(time),
  createdAfter: maybe(fc.nat(events.length - 1).map((i) => events[i]!.createdAt)),
  updatedAfter: maybe(fc.nat(events.length - 1).map((i) => events[i]!.updatedAt)),
  deviceId: maybe(fc.constantFrom(...devices.map(({ id }) => id))),
  eventTypeId: maybe(fc.constant(eventType.id)),
  sortBy: maybe(fc.constantFrom(...(Object.keys(sortKeys) as (keyof typeof sortKeys)[]))),
  sortOrder: fc.constantFrom("asc" as const, "desc" as const),
  limit: fc.oneof(fc.nat(10), fc.constant(2000)),
  offset: fc.oneof(fc.constant(0), fc.nat(10)),
});

test("`start` and `end` match any event intersecting the range, inclusive, with any other filter, sort and page", async () => {
  const agrees = fc.asyncProperty(queries, async (query) => {
    assert.deepEqual(ids(await list(query)), expected(query));
  });
  await fc.assert(agrees, { numRuns: propertyRuns(300) });
});

test("an event that touches the range at only one nanosecond is found", async () => {
  const { start, end, id } = await admin.call(api.events.create, { deviceName: "a", start: 1000n, end: 1010n });
  const finds = async (query: ListQuery) => ids(await list(query)).includes(id);
  assert.ok(await finds({ start: end, end: end + 5n }));
  assert.ok(await finds({ start: start - 5n, end: start }));
  assert.ok(await finds({ start: start + 1n, end: start + 1n }));
  assert.ok(!(await finds({ start: end + 1n })));
  assert.ok(!(await finds({ end: start - 1n })));
  await admin.call(api.events.delete, { id });
});

test("a range that ends before it starts holds no event", async () => {
  assert.deepEqual(await list({ start: 60n, end: 59n }), []);
});

test("without sort the order is that of creation; limit 0 is an empty list, and 2000 is allowed", async () => {
  assert.deepEqual(ids(await list({})), ids(events));
  assert.deepEqual(await list({ limit: 0 }), []);
  assert.equal((await list({ limit: 2000 })).length, events.length);
});

test("an event in a list equals the event that get answers", async () => {
  const [listed] = await list({ eventId: events[7]!.id });
  assert.deepEqual(listed, await admin.call(api.events.get, { id: events[7]!.id }));
  assert.deepEqual(await list({ eventId: "evt_unknown" }), []);
});

test("`deviceName`, `device.id` and `device.name` select a device; the plain name wins; an unknown device is 404", async () => {
  const ofA = ids(events.filter(({ device }) => device.name === "a"));
  const [b, a] = devices;
  for (const query of ["deviceName=a", "device.name=a", `device.id=${a!.id}`, `deviceId=${a!.id}&device.id=${b!.id}`])
    assert.deepEqual(ids((await send(query)).body), ofA, query);
  assert.equal((await send("deviceName=unknown")).status, 404);
});

const idsOfNumbers = (...numbers: number[]) => numbers.map((number) => events[number]!.id);

test("`query` searches metadata by default: key:value, key:value1,value2, key:*, *:value and bare text, AND-ed", async () => {
  assert.deepEqual(ids(await list({ query: "number:7,3" })), idsOfNumbers(3, 7));
  assert.deepEqual(ids(await list({ query: "touched:*" })), idsOfNumbers(3, 7, 20));
  assert.deepEqual(ids(await list({ query: "*:yes parity:even" })), idsOfNumbers(20));
  assert.deepEqual(ids(await list({ query: "TOUCH parity:odd" })), idsOfNumbers(3, 7));
  assert.deepEqual(await list({ query: "halle" }), []);
});

test("`queryFields` selects the fields to search; with both, each term may match in either", async () => {
  const zoned = ids(events.filter((_, i) => i % 3 === 0));
  assert.deepEqual(ids(await list({ query: "halle", queryFields: ["properties"] })), zoned);
  assert.deepEqual(await list({ query: "parity:odd", queryFields: ["properties"] }), []);
  const both = await list({ query: 'touched:yes zone:"Halle 1"', queryFields: ["metadata", "properties"] });
  assert.deepEqual(ids(both), idsOfNumbers(3));
});

test("`queryFields` may be repeated, comma-separated or indexed, with an encoded slash or a plain one", async () => {
  const spellings = [
    "queryFields=metadata&queryFields=properties",
    "queryFields=metadata,properties",
    "queryFields/0=metadata&queryFields/1=properties",
    "queryFields%2F0=metadata&queryFields%2F1=properties",
  ];
  for (const spelling of spellings) {
    const { body } = await send(`query=zone:*%20touched:*&${spelling}`);
    assert.deepEqual(ids(body), idsOfNumbers(3), spelling);
  }
  assert.deepEqual(ids((await send("query=touched:*&queryFields=metadata")).body), idsOfNumbers(3, 7, 20));
  assert.equal((await send("query=x&queryFields=name")).status, 400);
});

test("a malformed query is 400 and the error says where", async () => {
  const saysWhere = refusedWith(400, "at character 5");
  await assert.rejects(list({ query: 'foo "bar' }), saysWhere);
  assert.equal((await send("query=:value")).status, 400);
});

test("unknown parameters are ignored, and empty selectors select everything", async () => {
  assert.equal((await send("unknown=1&eventId=&query=")).body.length, events.length);
});

test("a list shows only the caller's projects, and only one of them if `projectId` names it", async () => {
  const second = await admin.call(api.projects.create, { name: "second" });
  const there = await admin.call(api.devices.create, { name: "there", projectId: second.id });
  const event = await admin.call(api.events.create, { deviceId: there.id, start: 1n, end: 1n });
  const limited = cloud.withToken(await cloud.addKey(["events.list"], [second.id]));
  assert.deepEqual(ids(await limited.call(api.events.list, {})), [event.id]);
  assert.deepEqual(ids(await list({ projectId: second.id })), [event.id]);
  assert.equal((await list({})).length, events.length + 1);
  const hidden = limited.call(api.events.list, { projectId: devices[0]!.projectId });
  await assert.rejects(hidden, refusedWith(404));
});
