import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { ApiCallError } from "@downlink/client";
import { api, type CallInput, ErrorBody } from "@downlink/protocol";
import { makeMcap, slowTest } from "@downlink/recordings/testing";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { endOfImport, putFile, uploadFile } from "../../testing/upload-file.ts";

const SECOND = 1_000_000_000n;
const cloud = await startCloud({ after });
const { admin, deps } = cloud;
const robot = await admin.call(api.devices.create, { name: "robot" });
let minute = 0n;

const create = (body: Partial<CallInput<typeof api.uploads.create>>, client = admin) =>
  client.call(api.uploads.create, { filename: "a.mcap", ...body });

/** Sends what our own client would not send. */
function post(body: object, token = cloud.adminKey): Promise<Response> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const sent = JSON.stringify({ filename: "a.mcap", ...body });
  return fetch(`${cloud.url}/v1/data/upload`, { method: "POST", headers, body: sent });
}

async function assertRefused(body: object, [status, text]: readonly [number, RegExp], token?: string): Promise<void> {
  const response = await post(body, token);
  const { error } = ErrorBody.parse(await response.json());
  assert.equal(response.status, status, error);
  assert.match(error, text);
}

const requestOf = ({ requestId }: { requestId: string }) =>
  deps.db.prisma.importRequest.findUniqueOrThrow({ where: { id: requestId } });

/** Makes a recording that no other test has. */
function anotherMcap(metadata: { name: string; metadata: Record<string, string> }[] = []) {
  minute += 60n;
  return makeMcap({ startNs: (1_760_000_000n + minute) * SECOND, durationSeconds: 1, metadata });
}

async function eventsOf(id: string): Promise<string[]> {
  const events = await deps.db.prisma.outboxEvent.findMany({ orderBy: [{ occurredAtNs: "asc" }, { type: "asc" }] });
  return events.filter(({ payload }) => JSON.stringify(payload).includes(id)).map(({ type }) => type);
}

test("one of deviceId, deviceName and key is required besides filename, and what is named by id must exist", async () => {
  await assertRefused({}, [400, /deviceId, deviceName or key/]);
  await assertRefused({ key: "k", filename: undefined }, [400, /filename/]);
  await assertRefused({ deviceId: "dev_unknown" }, [404, /dev_unknown/]);
  await assertRefused({ key: "k", sessionId: "sess_unknown" }, [404, /sess_unknown/]);
  for (const body of [{ deviceId: robot.id }, { deviceName: "robot" }, { key: "k" }])
    assert.ok((await create(body)).link);
});

test("deviceName creates the device with the link if it is absent; such a name must satisfy the device name rules", async () => {
  for (const deviceName of ["no spaces", "n".repeat(101), "a/b"])
    await assertRefused({ deviceName }, [400, /deviceName/]);
  const { link, requestId } = await create({ deviceName: "new_robot.1-a" });
  assert.deepEqual(await admin.call(api.pendingImports.list, { deviceName: "new_robot.1-a" }), []);
  const device = await admin.call(api.devices.get, { nameOrId: "new_robot.1-a" });
  assert.deepEqual(await eventsOf(device.id), ["device.created"]);
  assert.equal((await putFile(link, await anotherMcap())).status, 200);
  const ended = await endOfImport(cloud, requestId);
  assert.deepEqual([ended.status, ended.deviceId, ended.deviceName], ["complete", device.id, "new_robot.1-a"]);
  assert.deepEqual((await eventsOf(device.id)).filter((type) => type === "device.created").length, 1);
});

test("sessionKey creates the session of the device with the link if none has the key, in the same project", async () => {
  const { id: projectId } = await admin.call(api.projects.create, { name: "of the session" });
  const body = { projectId, deviceName: "fresh", sessionKey: "first light" };
  const request = await requestOf(await create(body));
  const session = await admin.call(api.sessions.get, { keyOrId: "first light" });
  assert.deepEqual([session.projectId, session.device.id], [projectId, request.deviceId]);
  assert.deepEqual(await eventsOf(session.id), ["session.created"]);
  assert.deepEqual(await admin.call(api.recordings.list, { sessionKey: "first light" }), []);
  assert.deepEqual(await admin.call(api.pendingImports.list, { sessionKey: "first light" }), []);
  await create(body);
  assert.deepEqual(await eventsOf(session.id), ["session.created"], "the next link finds it");
});

test("a sessionKey without a device creates no session: the file says which device it belongs to", async () => {
  const { requestId, link } = await create({ key: "evening", projectId: robot.projectId, sessionKey: "evening" });
  assert.equal(await deps.db.prisma.session.count({ where: { key: "evening" } }), 0);
  assert.deepEqual(await admin.call(api.pendingImports.list, { sessionKey: "evening" }), [], "a request names it");
  const file = await anotherMcap([{ name: "downlink", metadata: { deviceId: robot.id } }]);
  assert.equal((await putFile(link, file)).status, 200);
  const { status, recordingId } = await endOfImport(cloud, requestId);
  const session = await admin.call(api.sessions.get, { keyOrId: "evening" });
  assert.deepEqual([status, session.recordings.map(({ id }) => id)], ["complete", [recordingId]]);
});

test("data.upload alone is enough to create both, in the projects of the key", async () => {
  const { id: projectId } = await admin.call(api.projects.create, { name: "of the uploader" });
  const client = cloud.withToken(await cloud.addKey(["data.upload"], [projectId]));
  await create({ deviceName: "explorer", sessionKey: "night" }, client);
  const devices = await admin.call(api.devices.list, { projectId });
  const sessions = await admin.call(api.sessions.list, { projectId });
  assert.deepEqual(devices.map(({ name }) => name).concat(sessions.map(({ key }) => key!)), ["explorer", "night"]);
});

test("of uploads that create the same device and session at the same moment, one does, and all succeed", async () => {
  const body = { projectId: robot.projectId, deviceName: "contended", sessionKey: "contended" };
  const made = await Promise.all(Array.from({ length: 12 }, () => create(body)));
  const requests = await Promise.all(made.map(requestOf));
  assert.equal(new Set(requests.map(({ deviceId }) => deviceId)).size, 1);
  const { id, device } = await admin.call(api.sessions.get, { keyOrId: "contended" });
  assert.equal(device.id, requests[0]!.deviceId);
  for (const [type, made] of Object.entries({ "device.created": device.id, "session.created": id }))
    assert.equal((await eventsOf(made)).filter((seen) => seen === type).length, 1, type);
});

test("an upload succeeds even if another one creates its device or its session at that moment", async () => {
  const { projectId, id: deviceId } = robot;
  for (let round = 0; round < 5; round++) {
    const [name, key] = [`raced-${round}`, `race ${round}`];
    const others = [
      admin.call(api.devices.create, { projectId, name }),
      admin.call(api.sessions.create, { deviceId, key }),
    ];
    const bodies = [1, 2, 3].flatMap(() => [
      { projectId, deviceName: name },
      { deviceId, sessionKey: key },
    ]);
    const settled = Promise.allSettled(others);
    const made = await Promise.all(bodies.map((body) => create(body)));
    assert.equal(made.length, 6);
    for (const other of await settled)
      assert.ok(other.status === "fulfilled" || (other.reason as ApiCallError).code === "NameTaken");
    assert.equal(await deps.db.prisma.device.count({ where: { name } }), 1);
    assert.equal(await deps.db.prisma.session.count({ where: { key } }), 1);
  }
});

test("the deprecated device.id and device.name are accepted, and ignored if the others are supplied", async () => {
  const send = async (body: object) => (await (await post(body)).json()) as { requestId: string };
  assert.equal((await requestOf(await send({ "device.id": robot.id }))).deviceId, robot.id);
  assert.equal((await requestOf(await send({ "device.name": "robot" }))).deviceId, robot.id);
  const both = await send({ deviceId: robot.id, "device.id": "dev_unknown" });
  assert.equal((await requestOf(both)).deviceId, robot.id);
});

test("projectId is required in organizations with several projects if no existing device is given", async () => {
  const org = { ...cloud, admin: await cloud.otherOrganization() };
  const [first] = await org.admin.call(api.projects.list, {});
  const second = await org.admin.call(api.projects.create, { name: "second" });
  const device = await org.admin.call(api.devices.create, { name: "only", projectId: second.id });
  for (const body of [{ key: "k" }, { deviceName: "newcomer" }])
    await assert.rejects(create(body, org.admin), refusedWith("ProjectRequired", /projectId/));
  for (const body of [{ deviceId: device.id }, { deviceName: "only" }])
    assert.equal((await requestOf(await create(body, org.admin))).projectId, second.id);
  assert.equal((await requestOf(await create({ key: "k", projectId: first!.id }, org.admin))).projectId, first!.id);
  await org.admin.call(api.devices.create, { name: "only", projectId: first!.id });
  await assert.rejects(create({ deviceName: "only" }, org.admin), refusedWith(400, /several projects/));
  const named = await create({ deviceName: "only", projectId: second.id }, org.admin);
  assert.equal((await requestOf(named)).deviceId, device.id);
  await assert.rejects(
    create({ deviceId: device.id, projectId: first!.id }, org.admin),
    refusedWith(400, /projectId must be .*the project of/),
  );
  await assert.rejects(create({ key: "k", projectId: robot.projectId }, org.admin), refusedWith(404));
  await assert.rejects(create({ deviceId: robot.id }, org.admin), refusedWith(404));
});

test("a key that is limited to some projects uploads only into those", async () => {
  const { id: projectId } = await admin.call(api.projects.create, { name: "limited" });
  const token = await cloud.addKey(["data.upload"], [projectId]);
  assert.equal((await requestOf(await create({ key: "k" }, cloud.withToken(token)))).projectId, projectId);
  await assertRefused({ deviceId: robot.id }, [404, /device/], token);
  await assertRefused({ key: "k", projectId: robot.projectId }, [404, /project/], token);
});

test("a session of another device or project is refused before anything is uploaded", async () => {
  const { projectId } = robot;
  const other = await admin.call(api.devices.create, { name: "other", projectId });
  const session = await admin.call(api.sessions.create, { deviceId: other.id, key: "of the other" });
  const given = [{ sessionId: session.id }, { sessionKey: "of the other", projectId }];
  for (const body of given) {
    await assertRefused({ deviceId: robot.id, ...body }, [400, new RegExp(other.id)]);
    await assertRefused({ deviceName: "unheard-of", projectId, ...body }, [400, new RegExp(other.id)]);
    assert.equal(await deps.db.prisma.device.count({ where: { name: "unheard-of" } }), 0, "nothing is made");
    assert.ok(await create({ deviceId: other.id, ...body }));
  }
  const elsewhere = await admin.call(api.projects.create, { name: "elsewhere" });
  const body = { key: "k", projectId: elsewhere.id, sessionId: session.id };
  await assertRefused(body, [400, new RegExp(projectId)]);
  assert.ok(await create({ key: "k", projectId, sessionId: session.id }), "the file may name the device");
});

slowTest("a new session is created for the given device if none has the key; the next upload joins it", async () => {
  const body = { filename: "s.mcap", deviceId: robot.id, sessionKey: "night shift" };
  const first = await uploadFile(cloud, await anotherMcap(), body);
  const session = await admin.call(api.sessions.get, { keyOrId: "night shift", projectId: robot.projectId });
  assert.deepEqual([session.device.id, session.recordings.map(({ id }) => id)], [robot.id, [first.recordingId]]);
  assert.ok((await eventsOf(session.id)).includes("session.created"));
  await uploadFile(cloud, await anotherMcap(), body);
  await uploadFile(cloud, await anotherMcap(), { filename: "s.mcap", deviceId: robot.id, sessionId: session.id });
  const { recordings } = await admin.call(api.sessions.get, { keyOrId: session.id });
  assert.equal(recordings.length, 3);
});

test("_quarantine/ is a prefix that uploads may not use", async () => {
  for (const filename of ["_quarantine/a.mcap", "/_quarantine/a.mcap", "./_quarantine/a.mcap", "//_quarantine/"])
    await assertRefused({ key: "k", projectId: robot.projectId, filename }, [400, /filename/]);
  for (const filename of ["a/_quarantine/b.mcap", "_quarantined/b.mcap", "_quarantine"])
    assert.ok(await create({ key: "k", projectId: robot.projectId, filename }));
});

slowTest("a file name is kept as it was given, whatever characters it has", async () => {
  const long = Array.from({ length: 4096 }, (_, at) => String.fromCodePoint(0x4e00 + ((at * 7919) % 20_000))).join("");
  const names = ["Fahrt über die Brücke 🚗.mcap", "a%2Fb?c#d.mcap", "../../etc/passwd", "C:\\data\\a.mcap", long];
  for (const filename of names) {
    const { status, recordingId } = await uploadFile(cloud, await anotherMcap(), { filename, deviceId: robot.id });
    assert.equal(status, "complete");
    const [found] = await admin.call(api.recordings.list, { path: filename });
    assert.deepEqual([found?.id, found?.path], [recordingId, filename]);
  }
});

test("texts that no database or index can hold are 400: a NUL, half a character, more than 4096 characters, a key of more than 2048 bytes", async () => {
  const { projectId } = robot;
  for (const filename of ["a\0b", "a\ud800", "n".repeat(4097), ""])
    await assertRefused({ key: "k", projectId, filename }, [400, /filename/]);
  for (const key of ["k\0", "k".repeat(1025), "鍵".repeat(700), ""])
    await assertRefused({ projectId, deviceName: "robot", key }, [400, /key/]);
  await assertRefused({ projectId, key: "k", sessionKey: "鍵".repeat(700) }, [400, /sessionKey/]);
});
