import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api } from "@downlink/protocol";
import { eventually } from "@downlink/recordings/testing";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { brokenItem, deliver, recordingItem, sayHello, startAgent } from "../../testing/test-agent.ts";

const cloud = await startCloud({ after });
const { admin } = cloud;

/** A test must end before a long poll would end by itself. */
const inTime = { timeout: 20_000 };

/** Starts an agent on the shared store of an edge site. */
async function startSite(name: string, { client = admin, retainRecordingsSeconds = 0 } = {}) {
  const site = await client.call(api.sites.create, { name, type: "edge", retainRecordingsSeconds });
  const { token } = await client.call(api.siteTokens.create, { siteId: site.id });
  return { site, agent: await sayHello(cloud, { deviceId: "", token: token! }), token: token! };
}

test("a site's agent gets its site and the site's settings, and no device", async () => {
  const { site, agent } = await startSite("depot", { retainRecordingsSeconds: 3600 });
  const { hello } = agent;
  assert.deepEqual([hello.site, hello.device, hello.projectId], [{ id: site.id, name: "depot" }, undefined, undefined]);
  assert.deepEqual([hello.settings.enabled, hello.settings.retainRecordingsSeconds], [true, 3600]);
});

test("settings for a site's agent reach it with its work; sites of other kinds have no agent to set anything for", async () => {
  const { site, agent } = await startSite("tuned");
  const settings = { autoImport: ["**/*.mcap"], uploadRate: "2MB/s" };
  assert.deepEqual(await admin.call(api.agentSettings.putOfSite, { id: site.id, ...settings }), settings);
  assert.deepEqual(await admin.call(api.agentSettings.getOfSite, { id: site.id }), settings);
  const { work } = await agent.call(api.edge.work, {});
  assert.deepEqual({ ...work.settings, ...settings }, work.settings);
  const primary = await admin.call(api.sites.create, { name: "no-agent", type: "self-hosted" });
  await assert.rejects(admin.call(api.agentSettings.putOfSite, { id: primary.id }), refusedWith("Conflict"));
});

test("each file belongs to the device that it names: by id, by name, or by a new name, which creates the device", async () => {
  const { site, agent } = await startSite("shared");
  const known = await admin.call(api.devices.create, { name: "known" });
  const items = [
    recordingItem({ device: { id: known.id } }),
    recordingItem({ device: { name: "known" } }),
    recordingItem({ device: { name: "brand-new" } }),
    recordingItem({ device: { name: "brand-new" } }),
  ];
  const { unassigned } = await agent.report(items);
  assert.deepEqual(unassigned, []);
  const recordings = await admin.call(api.recordings.list, { edgeSiteId: site.id });
  const byPath = new Map(recordings.map((recording) => [recording.path, recording]));
  const owners = items.map(({ path }) => byPath.get(path)!.device!.name);
  assert.deepEqual(owners, ["known", "known", "brand-new", "brand-new"]);
  assert.ok(recordings.every(({ edgeSite }) => edgeSite?.id === site.id && edgeSite.name === "shared"));
});

test("a file that names no existing device stays unassigned, with the reason, and is assigned once the device exists", async () => {
  const { site, agent } = await startSite("lost-property");
  const lost = recordingItem({ device: { id: "dev_unknown" } });
  const silent = recordingItem();
  const odd = recordingItem({ device: { name: "no spaces allowed" } });
  const { unassigned } = await agent.report([lost, silent, odd]);
  assert.deepEqual(
    unassigned!.map(({ code }) => code),
    ["DeviceNotFound", "NoDevice", "InvalidDeviceName"],
  );
  const files = await admin.call(api.edgeFiles.list, { siteId: site.id });
  assert.deepEqual(
    files.map(({ state }) => state),
    ["unassigned", "unassigned", "unassigned"],
  );
  assert.equal(files.find(({ path }) => path === lost.path)!.reason!.text, "Device not found: dev_unknown");
  assert.deepEqual(await admin.call(api.recordings.list, { edgeSiteId: site.id }), []);

  const device = await admin.call(api.devices.create, { name: "found" });
  await agent.report([{ ...lost, device: { id: device.id } }]);
  const [recording] = await admin.call(api.recordings.list, { edgeSiteId: site.id });
  assert.equal(recording!.device!.id, device.id);
  assert.equal((await admin.call(api.edgeFiles.list, { siteId: site.id })).length, 2);
});

test("a file that is moved to another robot's folder becomes that robot's, unless somebody has requested it before", async () => {
  const { site, agent } = await startSite("sorted-by-hand");
  const [free, asked] = [recordingItem({ device: { name: "left" } }), recordingItem({ device: { name: "left" } })];
  await agent.report([free, asked]);
  const ownerOf = async (path: string) =>
    (await admin.call(api.recordings.list, { edgeSiteId: site.id })).find((recording) => recording.path === path)!;
  await admin.call(api.recordings.requestImport, { keyOrId: (await ownerOf(asked.path)).id });
  const moved = [free, asked].map((item) => ({ ...item, path: `right/${item.path}`, device: { name: "right" } }));
  await agent.report(moved);
  assert.equal((await ownerOf(moved[0]!.path)).device!.name, "right");
  assert.equal((await ownerOf(moved[1]!.path)).device!.name, "left");
});

test("a file that is a recording already stays with its device when it names none any more", async () => {
  const { site, agent } = await startSite("forgetting");
  const item = recordingItem({ device: { name: "steady" } });
  await agent.report([item]);
  const { unassigned } = await agent.report([{ ...item, path: "elsewhere.mcap", device: undefined }]);
  assert.deepEqual(unassigned, []);
  const [recording] = await admin.call(api.recordings.list, { edgeSiteId: site.id });
  assert.deepEqual([recording!.path, recording!.device!.name], ["elsewhere.mcap", "steady"]);
});

test("ids and names count only inside the site's organization", async () => {
  const other = await cloud.otherOrganization();
  const theirs = await other.call(api.devices.create, { name: "theirs" });
  const [theirProject] = await other.call(api.projects.list, {});
  const { site, agent } = await startSite("fenced");
  const { unassigned } = await agent.report([
    recordingItem({ device: { id: theirs.id } }),
    recordingItem({ device: { name: "theirs", projectId: theirProject!.id } }),
  ]);
  assert.deepEqual(
    unassigned!.map(({ code }) => code),
    ["DeviceNotFound", "ProjectNotFound"],
  );
  assert.deepEqual(await other.call(api.recordings.list, {}), []);
  await assert.rejects(other.call(api.edgeFiles.list, { siteId: site.id }), refusedWith("NotFound"));
});

test("a name that exists in several projects is ambiguous until the file names the project", async () => {
  const other = await cloud.otherOrganization();
  const [first] = await other.call(api.projects.list, {});
  const second = await other.call(api.projects.create, { name: "second" });
  for (const { id: projectId } of [first!, second]) await other.call(api.devices.create, { name: "twin", projectId });
  const { agent } = await startSite("twofold", { client: other });
  const { unassigned } = await agent.report([
    recordingItem({ device: { name: "twin" } }),
    recordingItem({ device: { name: "twin", projectId: second.id } }),
    recordingItem({ device: { name: "nobody" } }),
  ]);
  assert.deepEqual(
    unassigned!.map(({ code }) => code),
    ["AmbiguousName", "ProjectRequired"],
  );
  const [recording] = await other.call(api.recordings.list, {});
  assert.equal(recording!.projectId, second.id);
});

test("a file that is no recording shows whose it is, but creates no device", async () => {
  const { site, agent } = await startSite("junk");
  const device = await admin.call(api.devices.create, { name: "owner-of-junk" });
  await agent.report([brokenItem({ device: { name: "owner-of-junk" } }), brokenItem({ device: { name: "not-made" } })]);
  const files = await admin.call(api.edgeFiles.list, { siteId: site.id });
  assert.deepEqual(files.map((file) => file.device?.id).sort(), [device.id, undefined]);
  assert.deepEqual(
    files.map((file) => file.edgeSite?.name),
    ["junk", "junk"],
  );
  assert.equal(
    (await admin.call(api.devices.list, {})).some(({ name }) => name === "not-made"),
    false,
  );
});

test(
  "a requested import goes to the site's agent, wakes it, and ends with the recording at both sites",
  inTime,
  async () => {
    const { site, agent } = await startSite("busy");
    const bytes = Buffer.from("not a recording, but whole");
    const item = recordingItem({ device: { name: "visitor" }, size: bytes.byteLength });
    await agent.report([item]);
    const [recording] = await admin.call(api.recordings.list, { edgeSiteId: site.id });
    const { etag } = await agent.call(api.edge.work, {});
    const waiting = agent.call(api.edge.work, { wait: 30, etag });
    await eventually(
      async () => cloud.deps.polls.waiting(site.id),
      (count) => count === 1,
    );
    await admin.call(api.recordings.requestImport, { keyOrId: recording!.id });
    assert.equal((await waiting).work.imports[0]!.versionId, item.versionId);
    await deliver(agent, item, bytes);
    const [delivered] = await admin.call(api.recordings.list, { edgeSiteId: site.id });
    assert.notEqual(delivered!.importStatus, "pending");
  },
);

test("imports of a disabled device at a site wait, and those of the other devices go on", inTime, async () => {
  const { site, agent } = await startSite("mixed");
  const items = ["quiet", "lively"].map((name) => recordingItem({ device: { name } }));
  await agent.report(items);
  for (const { id } of await admin.call(api.recordings.list, { edgeSiteId: site.id }))
    await admin.call(api.recordings.requestImport, { keyOrId: id });
  const wantedPaths = async () =>
    (await agent.call(api.edge.work, {})).work.imports.map(({ versionId }) => versionId).sort();
  await admin.call(api.devices.update, { nameOrId: "quiet", enabled: false });
  assert.deepEqual(await wantedPaths(), [items[1]!.versionId]);
  const { etag } = await agent.call(api.edge.work, {});
  const waiting = agent.call(api.edge.work, { wait: 30, etag });
  await eventually(
    async () => cloud.deps.polls.waiting(site.id),
    (count) => count === 1,
  );
  await admin.call(api.devices.update, { nameOrId: "quiet", enabled: true });
  assert.equal((await waiting).work.imports.length, 2, "it hears of it at once");
  assert.deepEqual(await wantedPaths(), items.map(({ versionId }) => versionId).sort());
});

test("a site has one agent: a second one is refused, and a device's agent of the same organization does not disturb it", async () => {
  const { token } = await startSite("single");
  await assert.rejects(sayHello(cloud, { deviceId: "", token }), refusedWith("LeaseHeldElsewhere"));
  await startAgent(cloud, "beside-the-site");
});

test("the token of a self-hosted primary site is not accepted from agents", async () => {
  const site = await admin.call(api.sites.create, { name: "primary", type: "self-hosted" });
  const { token } = await admin.call(api.siteTokens.create, { siteId: site.id });
  await assert.rejects(sayHello(cloud, { deviceId: "", token: token! }), refusedWith("WrongCredentialKind"));
});

test("a deleted site takes its agent with it: open requests fail, and nothing can be requested any more", async () => {
  const { site, agent } = await startSite("closing");
  await agent.report([recordingItem({ device: { name: "homeless" } }), recordingItem({ device: { name: "awaited" } })]);
  const recordings = await admin.call(api.recordings.list, { edgeSiteId: site.id });
  const [recording, awaited] = recordings.sort((a, b) => (a.device!.name > b.device!.name ? -1 : 1));
  await admin.call(api.recordings.requestImport, { keyOrId: awaited!.id });
  await admin.call(api.sites.delete, { id: site.id });
  await assert.rejects(agent.report([]), refusedWith("Unauthenticated"));
  await assert.rejects(admin.call(api.recordings.requestImport, { keyOrId: recording!.id }), refusedWith("NotFound"));
  assert.equal((await admin.call(api.recordings.get, { keyOrId: awaited!.id })).importStatus, "failed");
});
