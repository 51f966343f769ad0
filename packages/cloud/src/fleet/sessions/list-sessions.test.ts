import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, type CallInput, type ListedSession } from "@downlink/protocol";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { recordingItem, startAgent, type TestAgent } from "../../testing/test-agent.ts";
import { createStoppedClock } from "../../testing/test-clock.ts";

const clock = createStoppedClock(1_700_000_000_000_000_000n, { stepNs: 1n });
const cloud = await startCloud({ after }, { works: false, clock });
const { admin } = cloud;
const robot = await startAgent(cloud, "robot");
const twin = await startAgent(cloud, "twin");
await admin.call(api.customProperties.create, {
  key: "site",
  label: "Site",
  resourceType: "session",
  valueType: "string",
});

type ListQuery = CallInput<typeof api.sessions.list>;
const list = (query: ListQuery = {}) => admin.call(api.sessions.list, query);
const keys = (found: readonly ListedSession[]) => found.map(({ key }) => key);

async function record(agent: TestAgent, spans: readonly (readonly [bigint, bigint])[]): Promise<string[]> {
  const items = spans.map(([start, end]) => recordingItem({ start, end }));
  await agent.report(items);
  const paths = items.map(({ path }) => path);
  const rows = await cloud.deps.db.prisma.recording.findMany({ where: { path: { in: paths } } });
  return rows.map(({ id }) => id);
}

const spans = [
  [100n, 900n],
  [200n, 300n],
  [950n, 960n],
] as const;
await admin.call(api.sessions.create, {
  key: "Prüfstand_1",
  recordingIds: await record(robot, spans),
  properties: { site: "Köln" },
});
await admin.call(api.sessions.create, { key: "run%2", deviceId: twin.deviceId, properties: { site: "Bonn" } });
await admin.call(api.sessions.create, { key: "RUN 3", recordingIds: await record(twin, [[2000n, 2001n]]) });
const all = ["Prüfstand_1", "run%2", "RUN 3"];

test("a listed session shows recordingCount, and recordingStart and recordingEnd over all its recordings", async () => {
  const [first, second] = await list();
  assert.deepEqual([first!.recordingCount, first!.recordingStart, first!.recordingEnd], [3, 100n, 960n]);
  assert.deepEqual(
    first!.recordings.map(({ start }) => start),
    [100n, 200n, 950n],
  );
  assert.deepEqual([second!.recordingCount, second!.recordingStart, second!.recordingEnd], [0, undefined, undefined]);
  const { recordingCount, recordingStart, recordingEnd, ...session } = first!;
  assert.deepEqual(await admin.call(api.sessions.get, { keyOrId: "Prüfstand_1" }), session);
});

test("`keyMatches` finds a part in upper or lower case; % and _ and backslashes stand for themselves", async () => {
  const matching = async (keyMatches: string) => keys(await list({ keyMatches }));
  assert.deepEqual(await matching("run"), ["run%2", "RUN 3"]);
  assert.deepEqual(await matching("PRÜF"), ["Prüfstand_1"]);
  assert.deepEqual(await matching("%"), ["run%2"]);
  assert.deepEqual(await matching("_"), ["Prüfstand_1"]);
  assert.deepEqual(await matching("\\"), []);
  assert.deepEqual(await matching("'; --"), []);
  assert.deepEqual(await matching(""), all);
});

test("`start` and `end` match sessions with a recording that intersects the range, inclusive", async () => {
  assert.deepEqual(keys(await list({ start: 960n })), ["Prüfstand_1", "RUN 3"]);
  assert.deepEqual(keys(await list({ start: 961n })), ["RUN 3"]);
  assert.deepEqual(keys(await list({ end: 100n })), ["Prüfstand_1"]);
  assert.deepEqual(keys(await list({ end: 99n })), []);
  assert.deepEqual(keys(await list({ start: 901n, end: 949n })), []);
  assert.deepEqual(keys(await list({ start: 900n, end: 949n })), ["Prüfstand_1"]);
});

test("a device is selected by id or name; an unknown one is 404", async () => {
  assert.deepEqual(keys(await list({ deviceId: twin.deviceId })), ["run%2", "RUN 3"]);
  assert.deepEqual(keys(await list({ deviceName: "robot" })), ["Prüfstand_1"]);
  await assert.rejects(list({ deviceName: "unknown" }), refusedWith(404));
});

test("`query` searches the properties: key:value, key:value1,value2, key:*, *:value and bare text", async () => {
  assert.deepEqual(keys(await list({ query: "site:Köln" })), ["Prüfstand_1"]);
  assert.deepEqual(keys(await list({ query: "site:Köln,Bonn" })), ["Prüfstand_1", "run%2"]);
  assert.deepEqual(keys(await list({ query: "site:*" })), ["Prüfstand_1", "run%2"]);
  assert.deepEqual(keys(await list({ query: "*:Bonn" })), ["run%2"]);
  assert.deepEqual(keys(await list({ query: "kÖl" })), ["Prüfstand_1"]);
  await assert.rejects(list({ query: '"' }), refusedWith(400));
});

test("lists are sorted by id, createdAt or updatedAt in a total order, by default by creation, and paged", async () => {
  await admin.call(api.sessions.update, { keyOrId: "run%2", properties: { site: "Mainz" } });
  assert.deepEqual(keys(await list()), all);
  assert.deepEqual(keys(await list({ sortBy: "createdAt", sortOrder: "desc" })), all.toReversed());
  assert.deepEqual(keys(await list({ sortBy: "updatedAt" })), ["Prüfstand_1", "RUN 3", "run%2"]);
  assert.deepEqual(keys(await list({ sortBy: "id", sortOrder: "desc" })), all.toReversed());
  assert.deepEqual(keys(await list({ limit: 1, offset: 1 })), ["run%2"]);
  assert.deepEqual(await list({ limit: 0 }), []);
});

test("a list shows only one project if `projectId` names it", async () => {
  const { id: projectId } = await admin.call(api.projects.create, { name: "second" });
  const device = await admin.call(api.devices.create, { name: "there", projectId });
  await admin.call(api.sessions.create, { deviceId: device.id, key: "there" });
  assert.deepEqual(keys(await list({ projectId })), ["there"]);
  assert.deepEqual(keys(await list()), [...all, "there"]);
});
