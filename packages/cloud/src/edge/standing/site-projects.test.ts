import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, type EdgeItem } from "@downlink/protocol";
import { eventually } from "@downlink/recordings/testing";
import { countLockWaits, untilLockWaits } from "../../testing/lock-waits.ts";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { brokenItem, recordingItem, sayHello, type TestAgent } from "../../testing/test-agent.ts";

const cloud = await startCloud({ after }, { works: false });
const { admin } = cloud;

const makeProject = async (name: string) => (await admin.call(api.projects.create, { name })).id;
const [first, second] = [await makeProject("one"), await makeProject("two")];

/** Starts an agent at an edge site that serves these projects. */
async function startSite(name: string, projectIds: string[]) {
  const { id } = await admin.call(api.sites.create, { name, type: "edge", projectIds });
  const { token } = await admin.call(api.siteTokens.create, { siteId: id });
  const agent = await sayHello(cloud, { deviceId: "", token: token! });
  const isFor = (...ids: string[]) => admin.call(api.sites.update, { id, projectIds: ids });
  const recordings = () => admin.call(api.recordings.list, { edgeSiteId: id, sortBy: "path" });
  return { id, agent, isFor, recordings };
}

/** Reads everything that shows the state of a project, for comparison. */
async function contentOf(projectId: string) {
  return {
    devices: await admin.call(api.devices.list, { projectId }),
    recordings: await admin.call(api.recordings.list, { projectId }),
    edgeFiles: await admin.call(api.edgeFiles.list, { projectId }),
    requests: await admin.call(api.pendingImports.list, { projectId, showCompleted: true }),
  };
}

async function codesOf(agent: TestAgent, items: readonly EdgeItem[]): Promise<string[]> {
  return (await agent.report(items)).unassigned!.map(({ code }) => code);
}

test("an edge site's agent creates nothing in a project that its site does not serve, whatever its files name", async () => {
  const { agent, recordings } = await startSite("fenced", [second]);
  const theirs = await admin.call(api.devices.create, { name: "guarded", projectId: first });
  const before = await contentOf(first);
  const items = [
    recordingItem({ device: { id: theirs.id } }),
    recordingItem({ device: { id: theirs.id, projectId: first } }),
    recordingItem({ device: { name: "guarded", projectId: first } }),
    recordingItem({ device: { name: "made-up", projectId: first } }),
    recordingItem({ device: { id: theirs.id, projectId: second } }),
    brokenItem({ device: { id: theirs.id } }),
  ];
  const outside = ["ProjectNotOfSite", "ProjectNotOfSite", "ProjectNotOfSite", "ProjectNotOfSite"];
  assert.deepEqual(await codesOf(agent, items), [...outside, "DeviceNotFound"]);
  assert.deepEqual(await contentOf(first), before);
  assert.deepEqual(await recordings(), []);
});

test("a name means a device of the site's own projects, or creates one there, even if another project has one of that name", async () => {
  const { agent, recordings } = await startSite("own-names", [second]);
  await admin.call(api.devices.create, { name: "namesake", projectId: first });
  const before = await contentOf(first);
  await agent.report([
    recordingItem({ device: { name: "namesake" } }),
    recordingItem({ device: { name: "only-here" } }),
  ]);
  for (const { projectId, device } of await recordings()) {
    assert.equal(projectId, second);
    assert.equal((await admin.call(api.devices.get, { nameOrId: device!.id })).projectId, second);
  }
  assert.equal((await recordings()).length, 2);
  assert.deepEqual(await contentOf(first), before);
});

test("at a site for several projects a new name needs the project, and a name that two of them have is ambiguous", async () => {
  const { agent } = await startSite("several", [first, second]);
  for (const projectId of [first, second]) await admin.call(api.devices.create, { name: "twin", projectId });
  const items = [recordingItem({ device: { name: "twin" } }), recordingItem({ device: { name: "unheard-of" } })];
  assert.deepEqual(await codesOf(agent, items), ["AmbiguousName", "ProjectRequired"]);
});

/**
 * Creates a site for two projects at which the first one has a recording, a damaged file and a requested import; then the site serves only
 * the second.
 */
async function shorten(name: string) {
  const site = await startSite(name, [first, second]);
  const device = await admin.call(api.devices.create, { name: `robot-${name}`, projectId: first });
  const [kept, asked, broken] = [
    recordingItem({ path: `${name}/1.mcap`, device: { name: device.name } }),
    recordingItem({ path: `${name}/2.mcap`, device: { id: device.id } }),
    brokenItem({ path: `${name}/3.mcap`, device: { name: device.name }, salvage: { start: 1n, end: 2n } }),
  ];
  await site.agent.report([kept, asked, broken]);
  const recordings = await site.recordings();
  await admin.call(api.recordings.requestImport, { keyOrId: recordings[1]!.id });
  await site.isFor(second);
  return { ...site, device, kept, asked, broken, before: await contentOf(first) };
}

test("if a site serves fewer projects, existing files stay and new files are unassigned with ProjectNotOfSite", async () => {
  const { agent, device, kept, asked, broken, before } = await shorten("shorter");
  assert.equal(before.recordings.filter(({ edgeSite }) => edgeSite?.name === "shorter").length, 2);
  const fresh = [recordingItem({ device: { id: device.id } }), recordingItem({ device: { name: device.name } })];
  assert.deepEqual(await codesOf(agent, [kept, asked, broken, ...fresh]), ["ProjectNotOfSite", "ProjectNotOfSite"]);
  assert.deepEqual(await contentOf(first), before);
  const unassigned = await admin.call(api.edgeFiles.list, { state: ["unassigned"] });
  for (const { path } of fresh) {
    const file = unassigned.find((one) => one.path === path)!;
    assert.deepEqual([file.projectId, file.reason!.code], [undefined, "ProjectNotOfSite"]);
  }
});

test("they are assigned once the site serves the project again", async () => {
  const { agent, device, isFor, recordings } = await shorten("back");
  const fresh = recordingItem({ device: { name: device.name } });
  assert.deepEqual(await codesOf(agent, [fresh]), ["ProjectNotOfSite"]);
  await isFor(second, first);
  assert.deepEqual(await codesOf(agent, [fresh]), []);
  assert.deepEqual((await recordings()).find(({ path }) => path === fresh.path)?.device?.id, device.id);
});

test("the agent moves nothing out of a project that its site does not serve any more: no move, no import, no other device", async () => {
  const { agent, kept, asked, broken, before } = await shorten("robbed");
  const own = await admin.call(api.devices.create, { name: "robber", projectId: second });
  const moved = [kept, asked, broken].map((item) => ({ ...item, device: { id: own.id }, wantsImport: true }));
  assert.deepEqual(await codesOf(agent, moved), []);
  const { answers } = await agent.call(api.edge.requestImports, { versionIds: [kept.versionId] });
  assert.deepEqual(
    answers,
    [{ versionId: kept.versionId, importStatus: undefined }].map(({ versionId }) => ({ versionId })),
  );
  assert.deepEqual(await contentOf(first), before);
  assert.deepEqual((await admin.call(api.recordings.list, { deviceId: own.id })).length, 0);
});

test("a damaged file that is finished later becomes no recording of that project, and no salvage of it can be requested", async () => {
  const { agent, broken, device, before } = await shorten("late");
  const file = before.edgeFiles.find(({ path }) => path === broken.path)!;
  await assert.rejects(admin.call(api.edgeFiles.salvage, { id: file.id }), refusedWith("Conflict"));
  const finished = recordingItem({ ...broken, state: "indexed", reason: undefined, device: { id: device.id } });
  assert.deepEqual(await codesOf(agent, [finished]), ["ProjectNotOfSite"]);
  assert.deepEqual((await contentOf(first)).recordings, before.recordings);
});

test("a key for that project still imports its files: the agent gets the request, and delivers", async () => {
  const { agent, recordings, kept, asked } = await shorten("still-there");
  await admin.call(api.recordings.requestImport, { keyOrId: (await recordings())[0]!.id });
  const { work } = await agent.call(api.edge.work, {});
  assert.deepEqual(work.imports.map(({ versionId }) => versionId).sort(), [kept.versionId, asked.versionId].sort());
});

test("a report in progress when its site is made to serve fewer projects has ended before that call is answered", async () => {
  const { id, agent, isFor, recordings } = await startSite("raced", [first, second]);
  const { id: deviceId } = await admin.call(api.devices.create, { name: "racer", projectId: first });
  let seen: number | undefined;
  const { reported, changed } = await cloud.deps.db.prisma.$transaction(async (tx) => {
    await tx.$queryRaw`SELECT id FROM "Device" WHERE id = ${deviceId} FOR UPDATE`;
    const reported = agent.report([recordingItem({ device: { id: deviceId } })]);
    await untilLockWaits(cloud.deps.db);
    const changed = isFor(second).then(async () => (seen = (await recordings()).length));
    await eventually(
      () => countLockWaits(cloud.deps.db),
      (count) => seen !== undefined || count > 1,
    );
    return { reported, changed };
  });
  await Promise.all([reported, changed]);
  assert.equal(seen, 1, `site ${id} changed before its agent's report had ended`);
});

test("the projects of sites do not matter to a device's agent", async () => {
  const { id: deviceId } = await admin.call(api.devices.create, { name: "robot-of-one", projectId: first });
  const { token } = await admin.call(api.deviceTokens.create, { deviceId });
  const agent = await sayHello(cloud, { deviceId, token: token! });
  const item = recordingItem({ wantsImport: true });
  await agent.report([item]);
  const [recording] = await admin.call(api.recordings.list, { deviceId });
  assert.deepEqual([recording!.projectId, recording!.importStatus], [first, "pending"]);
  const { answers } = await agent.call(api.edge.requestImports, { versionIds: [item.versionId] });
  assert.equal(answers[0]!.importStatus, "pending");
});
