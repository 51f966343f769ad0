import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Client } from "@downlink/client";
import { api } from "@downlink/protocol";
import { refusedWith } from "./testing/refused-with.ts";
import { startCloud } from "./testing/start-cloud.ts";
import { recordingItem, sayHello } from "./testing/test-agent.ts";

/** These tests try what the holder of a key with `["*"]` for only one project might try. limited-key.slow.ts walks over every operation. */
const cloud = await startCloud({ after }, { works: false });
const { admin } = cloud;
const projectLimited = refusedWith("ProjectLimited");

const [theirs, own] = await Promise.all(
  ["theirs", "own"].map(async (name) => (await admin.call(api.projects.create, { name })).id),
);
const holder = await holderOf([own!]);

async function holderOf(projectIds: string[], client: Client = admin): Promise<Client> {
  const key = { name: "holder", capabilities: ["*" as const], projectIds };
  return cloud.withToken((await client.call(api.apiKeys.create, key)).token!);
}

/** Reads the contents of the other project, as its owners see them. */
async function contentOfTheirs() {
  const projectId = theirs!;
  const devices = await admin.call(api.devices.list, { projectId });
  const histories = devices.map(({ id }) => admin.call(api.devices.listPropertyHistory, { nameOrId: id }));
  return {
    devices,
    histories: await Promise.all(histories),
    recordings: await admin.call(api.recordings.list, { projectId }),
  };
}

test("such a key creates neither an edge site nor a token for one, so that nothing can be written to another project or removed from it by a listing", async () => {
  const site = await admin.call(api.sites.create, { name: "depot", type: "edge" });
  const { token } = await admin.call(api.siteTokens.create, { siteId: site.id });
  const agent = await sayHello(cloud, { deviceId: "", token: token! });
  await agent.report([recordingItem({ device: { name: "victim", projectId: theirs! } })]);
  const before = await contentOfTheirs();
  assert.equal(before.recordings.length, 1);
  await assert.rejects(holder.call(api.sites.create, { name: "mine", type: "edge" }), projectLimited);
  await assert.rejects(
    holder.call(api.sites.create, { name: "mine", type: "edge", projectIds: [own!] }),
    projectLimited,
  );
  for (const siteId of [site.id, "site_unknown"]) {
    await assert.rejects(holder.call(api.siteTokens.create, { siteId }), projectLimited);
    await assert.rejects(holder.call(api.inboxTokens.create, { siteId }), projectLimited);
    await assert.rejects(holder.call(api.sites.update, { id: siteId, projectIds: [own!] }), projectLimited);
    await assert.rejects(holder.call(api.sites.delete, { id: siteId }), projectLimited);
    await assert.rejects(holder.call(api.agentSettings.putOfSite, { id: siteId, autoImport: ["**"] }), projectLimited);
  }
  const [known] = await admin.call(api.siteTokens.list, {});
  await assert.rejects(holder.call(api.siteTokens.list, {}), projectLimited);
  await assert.rejects(holder.call(api.siteTokens.delete, { id: known!.id }), projectLimited);
  assert.deepEqual(await contentOfTheirs(), before);
  await agent.report([]); // its token is still valid
});

test("such a key changes no definition: values and histories of other projects' devices stay", async () => {
  const property = {
    key: "colour",
    label: "Colour",
    resourceType: "device",
    valueType: "enum",
    enumValues: ["red"],
  } as const;
  const { id } = await admin.call(api.customProperties.create, { ...property, enumValues: ["red"] });
  await admin.call(api.devices.create, { name: "painted", projectId: theirs!, properties: { colour: "red" } });
  const type = await admin.call(api.eventTypes.create, { name: "Crash", customProperties: [] });
  const before = await contentOfTheirs();
  const { hasAssociatedData: _, ...defined } = await admin.call(api.customProperties.get, { id });
  for (const call of [
    () => holder.call(api.customProperties.delete, { id }),
    () => holder.call(api.customProperties.update, { id, label: "Mine", enumValues: ["red", "blue"] }),
    () => holder.call(api.customProperties.create, { ...property, key: "mine", enumValues: ["red"] }),
    () => holder.call(api.eventTypes.delete, { id: type.id }),
    () => holder.call(api.eventTypes.update, { id: type.id, name: "Mine" }),
    () => holder.call(api.eventTypes.create, { name: "Mine", customProperties: [] }),
  ])
    await assert.rejects(call(), projectLimited);
  assert.deepEqual(await contentOfTheirs(), before);
  assert.deepEqual(await holder.call(api.eventTypes.list, {}), [type]);
  assert.deepEqual(await holder.call(api.customProperties.list, {}), [{ ...defined, hasAssociatedData: false }]);
  const device = { name: "plain", projectId: own!, properties: { colour: "red" } };
  assert.deepEqual((await holder.call(api.devices.create, device)).properties, { colour: "red" });
});

test("such a key changes no shared layout, and creates, renames and sees no project", async () => {
  const layout = { id: "shared", name: "Shared", permission: "ORG_WRITE", data: { a: 1 } } as const;
  const before = await admin.call(api.layouts.create, layout);
  const projects = await admin.call(api.projects.list, {});
  for (const call of [
    () => holder.call(api.layouts.create, { ...layout, id: "mine" }),
    () => holder.call(api.layouts.update, { id: "shared", name: "Mine" }),
    () => holder.call(api.layouts.delete, { id: "shared" }),
    () => holder.call(api.layouts.restore, { id: "shared" }),
    () => holder.call(api.projects.create, { name: "mine" }),
    () => holder.call(api.projects.update, { id: theirs!, name: "mine" }),
    () => holder.call(api.projects.update, { id: own!, name: "mine" }),
  ])
    await assert.rejects(call(), projectLimited);
  assert.deepEqual(await holder.call(api.layouts.get, { id: "shared", includeData: true }), before);
  assert.deepEqual(await admin.call(api.projects.list, {}), projects);
  assert.deepEqual(
    (await holder.call(api.projects.list, {})).map(({ id }) => id),
    [own],
  );
});

test("such a key creates keys within its projects, which reach no further than it does itself", async () => {
  const second = await holderOf([own!], holder);
  await assert.rejects(second.call(api.projects.create, { name: "mine" }), projectLimited);
  await assert.rejects(holderOf([own!, theirs!], holder), refusedWith("NotFound"));
  await assert.rejects(holderOf([], holder), refusedWith("InvalidRequest"));
  const ofBoth = await holderOf([own!, theirs!]);
  await assert.rejects(ofBoth.call(api.projects.create, { name: "mine" }), projectLimited);
});
