import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { ApiCallError } from "@downlink/client";
import { api, type CallInput } from "@downlink/protocol";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { recordingItem, startAgent, type TestAgent } from "../../testing/test-agent.ts";

const cloud = await startCloud({ after }, { works: false });
const { admin } = cloud;
const { prisma } = cloud.deps.db;
const other = await cloud.otherOrganization();
const robot = await startAgent(cloud, "robot");
const twin = await startAgent(cloud, "twin");
const { projectId } = await admin.call(api.devices.get, { nameOrId: "robot" });
for (const [key, valueType] of [
  ["site", "string"],
  ["runs", "number"],
] as const)
  await admin.call(api.customProperties.create, { key, label: key, resourceType: "session", valueType });

type Created = CallInput<typeof api.sessions.create>;
const create = (body: Created = { deviceId: robot.deviceId }) => admin.call(api.sessions.create, body);
const get = (keyOrId: string) => admin.call(api.sessions.get, { keyOrId });
const update = (keyOrId: string, changes: Omit<CallInput<typeof api.sessions.update>, "keyOrId">) =>
  admin.call(api.sessions.update, { keyOrId, ...changes });
const remove = (keyOrId: string) => admin.call(api.sessions.delete, { keyOrId });

let created = 0;
const newKey = () => `key-${++created}`;

/** Returns the ids of new recordings at the edge, in the order of their start. */
async function record(agent: TestAgent, count = 1): Promise<string[]> {
  const items = Array.from({ length: count }, (_, i) => recordingItem({ start: BigInt(i + 1) * 1_000_000_007n }));
  await agent.report(items);
  const rows = await prisma.recording.findMany({
    where: { path: { in: items.map(({ path }) => path) } },
    orderBy: { startNs: "asc" },
  });
  return rows.map(({ id }) => id);
}

const sessionOf = async (keyOrId: string) => (await admin.call(api.recordings.get, { keyOrId })).sessionId;

async function send(method: string, path: string, body?: unknown) {
  const response = await fetch(`${cloud.url}/v1/sessions${path}`, {
    method,
    headers: { authorization: `Bearer ${cloud.adminKey}`, "content-type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

test("a session is created for a device, and inherits its project", async () => {
  const key = newKey();
  const session = await create({ deviceId: robot.deviceId, key, properties: { site: "Köln", unknown: 1 } });
  assert.match(session.id, /^sess_/);
  assert.deepEqual([session.device, session.projectId], [{ id: robot.deviceId, name: "robot" }, projectId]);
  assert.deepEqual([session.key, session.properties, session.recordings], [key, { site: "Köln" }, []]);
  assert.deepEqual(await get(session.id), session);
  assert.deepEqual(await get(key), session);
});

test("without `deviceId` the device is inferred from the recordings, which are listed in the order of their start", async () => {
  const recordingIds = await record(robot, 3);
  const session = await create({ recordingIds: [...recordingIds].reverse() });
  assert.equal(session.device.id, robot.deviceId);
  assert.deepEqual(
    session.recordings.map(({ id }) => id),
    recordingIds,
  );
  const [first] = session.recordings;
  const recording = await admin.call(api.recordings.get, { keyOrId: recordingIds[0]! });
  assert.deepEqual(first, { id: recording.id, path: recording.path, start: recording.start, end: recording.end });
  assert.equal(recording.sessionId, session.id);
});

test("deviceId or recordingIds is required: neither is 400, and so are an empty body and empty values", async () => {
  for (const body of [undefined, {}, { key: "k" }, { deviceId: "" }, { recordingIds: [] }])
    assert.equal((await send("POST", "", body)).status, 400, JSON.stringify(body));
});

test("`device.id` and `device.name` are other names of deviceId and deviceName", async () => {
  for (const body of [{ "device.id": robot.deviceId }, { "device.name": "robot" }, { deviceName: "robot" }])
    assert.deepEqual((await send("POST", "", body)).body.device, { id: robot.deviceId, name: "robot" });
});

test("the recordings must share one device: else 400, and nothing is created or linked", async () => {
  const [ours] = await record(robot);
  const [theirs] = await record(twin);
  const before = await admin.call(api.sessions.list, {});
  await assert.rejects(create({ recordingIds: [ours!, theirs!] }), refusedWith("InvalidRequest", theirs));
  await assert.rejects(create({ deviceId: robot.deviceId, recordingIds: [theirs!] }), refusedWith("InvalidRequest"));
  await prisma.recording.update({ where: { id: theirs! }, data: { deviceId: null } });
  await assert.rejects(create({ recordingIds: [theirs!] }), refusedWith("InvalidRequest", "is of none"));
  assert.deepEqual(await admin.call(api.sessions.list, {}), before);
  assert.equal(await sessionOf(ours!), undefined);
});

test("an unknown device or recording, and another organization's, is 404", async () => {
  const theirs = await other.call(api.devices.create, { name: "theirs" });
  const [ours] = await record(robot);
  await assert.rejects(create({ deviceId: "dev_unknown" }), refusedWith("NotFound"));
  await assert.rejects(create({ deviceId: theirs.id }), refusedWith("NotFound"));
  await assert.rejects(create({ recordingIds: ["rec_unknown"] }), refusedWith("NotFound", "rec_unknown"));
  await assert.rejects(other.call(api.sessions.create, { recordingIds: [ours!] }), refusedWith("NotFound"));
});

test("a `projectId` that differs from the device's project is 400; one that is not visible is 404", async () => {
  const elsewhere = await admin.call(api.projects.create, { name: "elsewhere" });
  const [recordingId] = await record(robot);
  for (const body of [{ deviceId: robot.deviceId }, { recordingIds: [recordingId!] }]) {
    const refused = create({ ...body, projectId: elsewhere.id });
    await assert.rejects(refused, refusedWith("InvalidRequest", "projectId"));
    await assert.rejects(create({ ...body, projectId: "prj_unknown" }), refusedWith("NotFound"));
  }
  assert.equal((await create({ deviceId: robot.deviceId, projectId })).projectId, projectId);
});

test("keys are unique in each project: a key that is taken is 409; another project may have it", async () => {
  const key = newKey();
  await create({ deviceId: robot.deviceId, key });
  await assert.rejects(create({ deviceId: twin.deviceId, key }), refusedWith("NameTaken", `"${key}"`));
  const { id } = await create();
  await assert.rejects(update(id, { key }), refusedWith("NameTaken", `"${key}"`));
  const there = await admin.call(api.projects.create, { name: "there" });
  const device = await admin.call(api.devices.create, { name: "there", projectId: there.id });
  assert.equal((await create({ deviceId: device.id, key })).key, key);
});

test("without `projectId` a key is found if it is unambiguous, else it is 400", async () => {
  const key = newKey();
  const second = await admin.call(api.projects.create, { name: "second" });
  const device = await admin.call(api.devices.create, { name: "second", projectId: second.id });
  const here = await create({ deviceId: robot.deviceId, key });
  assert.equal((await get(key)).id, here.id);
  const there = await create({ deviceId: device.id, key });
  await assert.rejects(get(key), refusedWith("AmbiguousName", key));
  await assert.rejects(remove(key), refusedWith("AmbiguousName"));
  assert.equal((await admin.call(api.sessions.get, { keyOrId: key, projectId: second.id })).id, there.id);
  await assert.rejects(
    admin.call(api.sessions.get, { keyOrId: here.id, projectId: second.id }),
    refusedWith("NotFound"),
  );
  const limited = cloud.withToken(await cloud.addKey(["sessions.list"], [second.id]));
  assert.equal((await limited.call(api.sessions.get, { keyOrId: key })).id, there.id);
});

test("a session whose key is another session's id does not hide that one: the id wins", async () => {
  const first = await create();
  await create({ deviceId: robot.deviceId, key: first.id });
  assert.equal((await get(first.id)).id, first.id);
});

test("a key is not empty, has at most 1024 characters and 2048 bytes, and may hold / # ? % and any language", async () => {
  const body = { deviceId: robot.deviceId };
  for (const key of ["", "k".repeat(1025), "日".repeat(700), "a\0", "\ud800", 7])
    assert.equal((await send("POST", "", { ...body, key })).status, 400, JSON.stringify(key).slice(0, 20));
  assert.equal((await send("POST", "", { ...body, key: null })).status, 200); // no key is given
  for (const key of ["k".repeat(1024), "日".repeat(682), "a/b#c?d%2Fe f", "Prüfstand 🤖"])
    assert.equal((await get((await create({ ...body, key })).id)).key, key);
  assert.equal((await send("GET", `/${encodeURIComponent("a/b#c?d%2Fe f")}`)).status, 200);
});

test("an update changes the fields that are sent: null clears `key`, and for properties keys that are not sent stay and null removes one", async () => {
  const { id } = await create({ deviceId: robot.deviceId, key: newKey(), properties: { site: "a", runs: 1 } });
  const renamed = newKey();
  assert.equal((await update(id, { key: renamed })).key, renamed);
  assert.deepEqual((await update(id, { properties: { site: null, unknown: 1 } })).properties, { runs: 1 });
  const cleared = await update(renamed, { key: null });
  assert.deepEqual([cleared.key, cleared.properties], [undefined, { runs: 1 }]);
  await assert.rejects(get(renamed), refusedWith("NotFound"));
  await assert.rejects(update(id, { properties: { runs: "many" } }), refusedWith("InvalidRequest", "properties.runs"));
  assert.equal((await send("PATCH", `/${id}`, { key: "" })).status, 400);
});

test("an update with equal values, or with an empty body, leaves the session as it is", async () => {
  const key = newKey();
  const recordingIds = await record(robot);
  const session = await create({ recordingIds, key, properties: { runs: 1 } });
  assert.deepEqual(await update(key, { key, properties: { runs: 1 }, addRecordingIds: recordingIds }), session);
  assert.equal((await send("PATCH", `/${key}`)).status, 200);
  assert.deepEqual(await get(key), session);
});

test("recordings are added and removed in one step; removing one that is not in the session changes nothing", async () => {
  const [first, second, third] = await record(robot, 3);
  const { id } = await create({ recordingIds: [first!] });
  const updated = await update(id, { addRecordingIds: [second!, second!], removeRecordingIds: [first!, third!] });
  assert.deepEqual(
    updated.recordings.map((recording) => recording.id),
    [second],
  );
  assert.deepEqual([await sessionOf(first!), await sessionOf(third!)], [undefined, undefined]);
});

test("an update is all or nothing: another device's recording, an unknown one or an id in both lists changes nothing", async () => {
  const [mine, more] = await record(robot, 2);
  const [foreign] = await record(twin);
  const session = await create({ recordingIds: [mine!], key: newKey() });
  const removeRecordingIds = [mine!];
  const attempt = (addRecordingIds: string[]) =>
    update(session.id, { key: newKey(), addRecordingIds, removeRecordingIds });
  await assert.rejects(attempt([more!, foreign!]), refusedWith("InvalidRequest", foreign));
  await assert.rejects(attempt([more!, "rec_unknown"]), refusedWith("NotFound", "rec_unknown"));
  await assert.rejects(attempt([more!, mine!]), refusedWith("InvalidRequest", mine));
  assert.deepEqual(await get(session.id), session);
  assert.equal(await sessionOf(more!), undefined);
});

test("a recording of another session is not taken from it: 409 names that session", async () => {
  const recordingIds = await record(robot);
  const owner = await create({ recordingIds });
  await assert.rejects(create({ recordingIds }), refusedWith("Conflict", owner.id));
  const { id } = await create();
  await assert.rejects(update(id, { addRecordingIds: recordingIds }), refusedWith("Conflict", owner.id));
  await update(owner.id, { removeRecordingIds: recordingIds });
  assert.deepEqual(
    (await update(id, { addRecordingIds: recordingIds })).recordings.map((one) => one.id),
    recordingIds,
  );
});

test("of two sessions that want one recording at the same moment one gets it, and the other is 409", async () => {
  const recordingIds = await record(robot);
  const answers = await Promise.allSettled([create({ recordingIds }), create({ recordingIds })]);
  assert.deepEqual(answers.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
  const refused = answers.find((answer) => answer.status === "rejected");
  assert.equal((refused!.reason as ApiCallError).code, "Conflict");
});

test("deleting unlinks the recordings, whose data stays; the session is not found any more by key or id", async () => {
  const key = newKey();
  const recordingIds = await record(robot, 2);
  const session = await create({ recordingIds, key });
  assert.deepEqual(await remove(key), { id: session.id });
  for (const keyOrId of [key, session.id]) {
    await assert.rejects(get(keyOrId), refusedWith("NotFound"));
    await assert.rejects(update(keyOrId, { key: null }), refusedWith("NotFound"));
    await assert.rejects(remove(keyOrId), refusedWith("NotFound"));
  }
  for (const id of recordingIds) assert.equal(await sessionOf(id), undefined);
  assert.ok(!(await admin.call(api.sessions.list, {})).some(({ id }) => id === session.id));
  await assert.rejects(admin.call(api.recordings.list, { sessionKey: key }), refusedWith("NotFound"));
});

test("the key of a deleted session is free: a new session may have it", async () => {
  const key = newKey();
  const { id } = await create({ deviceId: robot.deviceId, key });
  await remove(id);
  const next = await create({ deviceId: twin.deviceId, key });
  assert.notEqual(next.id, id);
  assert.equal((await get(key)).id, next.id);
});

test("an upload into a deleted session is refused: 404", async () => {
  const { id } = await create();
  const upload = { filename: "a.mcap", deviceId: robot.deviceId, sessionId: id };
  await admin.call(api.uploads.create, upload);
  await remove(id);
  await assert.rejects(admin.call(api.uploads.create, upload), refusedWith("NotFound", id));
});

test("`session.created` is written with id, device and key in the transaction that creates the session", async () => {
  const key = newKey();
  const { id } = await create({ deviceId: robot.deviceId, key });
  await assert.rejects(create({ deviceId: robot.deviceId, key }));
  const rows = await prisma.outboxEvent.findMany({ where: { type: "session.created" } });
  const ofKey = rows.filter(({ payload }) => (payload as { session: { key?: string } }).session.key === key);
  const device = { id: robot.deviceId, name: "robot" };
  assert.deepEqual(
    ofKey.map((row) => [row.projectId, row.payload]),
    [[projectId, { session: { id, key, device } }]],
  );
});

test("another organization, and a key of another project, can neither see, change nor delete a session: 404", async () => {
  const { id } = await create();
  const hidden = await admin.call(api.projects.create, { name: "hidden" });
  const key = await cloud.addKey(["sessions.list", "sessions.update", "sessions.delete"], [hidden.id]);
  for (const stranger of [other, cloud.withToken(key)]) {
    await assert.rejects(stranger.call(api.sessions.get, { keyOrId: id }), refusedWith("NotFound"));
    await assert.rejects(stranger.call(api.sessions.update, { keyOrId: id, key: null }), refusedWith("NotFound"));
    await assert.rejects(stranger.call(api.sessions.delete, { keyOrId: id }), refusedWith("NotFound"));
    assert.ok(!(await stranger.call(api.sessions.list, {})).some((session) => session.id === id));
  }
});
