import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, type CallInput, type LakeFile } from "@downlink/protocol";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { recordingItem, startAgent } from "../../testing/test-agent.ts";

const HOUR = 3_600_000_000_000n;
const cloud = await startCloud({ after }, { works: false });
const { admin } = cloud;
const { id: siteId } = await admin.call(api.sites.create, { name: "own", type: "self-hosted" });
const agent = await startAgent(cloud, "robot");
const { deviceId } = agent;
await agent.report([recordingItem({ key: "drive" })]);
const [recording] = await admin.call(api.recordings.list, {});
const session = await admin.call(api.sessions.create, { key: "morning", recordingIds: [recording!.id] });

type ListQuery = Partial<CallInput<typeof api.lakeFiles.list>>;
const list = (query: ListQuery): Promise<LakeFile[]> => admin.call(api.lakeFiles.list, { siteId, ...query });

test("a valid query is an empty list as long as a site has no lake", async () => {
  const day = { start: 0n, end: 24n * HOUR };
  for (const query of [
    { deviceId, ...day },
    { deviceName: "robot", topic: "/imu", ...day },
    { recordingId: recording!.id },
    { recordingKey: "drive", start: 0n },
    { sessionId: session.id, start: 0n, end: 1000n * HOUR },
    { sessionKey: "morning", deviceId },
  ])
    assert.deepEqual(await list(query), [], JSON.stringify(Object.keys(query)));
});

test("the query must be limited by a device, a recording or a session: 400", async () => {
  await assert.rejects(list({}), refusedWith(400, /device, a recording or a session/));
  await assert.rejects(
    list({ start: 0n, end: HOUR, topic: "/imu" }),
    refusedWith(400, /device, a recording or a session/),
  );
  await assert.rejects(list({}), refusedWith(400, /device, a recording or a session/));
});

test("`siteId` is required: 400", async () => {
  const headers = { authorization: `Bearer ${cloud.adminKey}` };
  for (const query of ["recordingKey=drive", "recordingKey=drive&siteId="]) {
    const response = await fetch(`${cloud.url}/v1/lake-files?${query}`, { headers });
    assert.equal(response.status, 400);
    assert.match(await response.text(), /siteId/);
  }
});

test("querying by device requires both `start` and `end`, and the error says which is missing: 400", async () => {
  await assert.rejects(list({ deviceId, end: HOUR }), refusedWith(400, /^start is required/));
  await assert.rejects(list({ deviceName: "robot", start: 0n }), refusedWith(400, /^end is required/));
});

test("the range of a query by device must not exceed 24 hours, nor end before it starts: 400", async () => {
  await assert.rejects(list({ deviceId, start: 0n, end: 24n * HOUR + 1n }), refusedWith(400, /24 hours/));
  await assert.rejects(list({ deviceId, start: 1n, end: 0n }), refusedWith(400, /^start must not be after/));
  await assert.rejects(
    list({ recordingKey: "drive", start: 1n, end: 0n }),
    refusedWith(400, /^start must not be after/),
  );
});

test("a site that is no self-managed primary site is 400, and one of another organization 404", async () => {
  const [hosted] = await admin
    .call(api.sites.list, { limit: 2000 })
    .then((all) => all.filter(({ id }) => id !== siteId));
  await assert.rejects(
    list({ siteId: hosted!.id, recordingKey: "drive" }),
    refusedWith(400, /must be of a site that is self-hosted/),
  );
  const other = await cloud.otherOrganization();
  const theirs = await other.call(api.sites.create, { name: "theirs", type: "self-hosted" });
  await assert.rejects(list({ siteId: theirs.id, recordingKey: "drive" }), refusedWith(404, /site/));
});

test("an unknown device, recording or session is 404, and so is one that the key may not see", async () => {
  const unknown = [{ recordingId: "x" }, { recordingKey: "x" }, { sessionId: "x" }, { sessionKey: "x" }];
  for (const query of [...unknown, { deviceName: "x", start: 0n, end: HOUR }, { deviceId: "x", recordingKey: "drive" }])
    await assert.rejects(list(query), refusedWith(404, /"x" not found/), JSON.stringify(Object.keys(query)));
  const { id: projectId } = await admin.call(api.projects.create, { name: "second" });
  const limited = cloud.withToken(await cloud.addKey(["data.stream"], [projectId]));
  const hidden = limited.call(api.lakeFiles.list, { siteId, recordingId: recording!.id });
  await assert.rejects(hidden, refusedWith(404, /recording/));
});

test("a session's key that exists in several projects needs `projectId`: 400", async () => {
  const projects = await admin.call(api.projects.list, {});
  const second = projects.find(({ id }) => id !== recording!.projectId)!;
  const device = await admin.call(api.devices.create, { name: "there", projectId: second.id });
  await admin.call(api.sessions.create, { deviceId: device.id, key: "morning" });
  await assert.rejects(list({ sessionKey: "morning" }), refusedWith(400, /give projectId/));
  assert.deepEqual(await list({ sessionKey: "morning", projectId: second.id }), []);
});
