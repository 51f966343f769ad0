import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, capabilities } from "@downlink/protocol";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { brokenItem, sayHello } from "../../testing/test-agent.ts";

const cloud = await startCloud({ after }, { works: false });
const { admin } = cloud;

const [first, second] = await Promise.all(
  ["one", "two"].map((name) => admin.call(api.projects.create, { name }).then(({ id }) => id)),
);
const limited = cloud.withToken(await cloud.addKey(capabilities, [second!]));

const create = (name: string, projectIds: string[], type: "edge" | "self-hosted" = "edge") =>
  admin.call(api.sites.create, { name, type, projectIds });

test("a site serves all projects or those that it names, each once; a project that does not exist is 404", async () => {
  assert.deepEqual((await create("for all", [])).projectIds, []);
  const site = await create("for one", [first!, first!]);
  assert.deepEqual(site.projectIds, [first]);
  assert.deepEqual(await admin.call(api.sites.get, { id: site.id }), site);
  await assert.rejects(create("for none", ["prj_unknown"]), refusedWith("NotFound", "prj_unknown"));
  const [theirs] = await (await cloud.otherOrganization()).call(api.projects.list, {});
  await assert.rejects(create("for theirs", [theirs!.id]), refusedWith("NotFound"));
  await assert.rejects(
    admin.call(api.sites.update, { id: site.id, projectIds: [theirs!.id] }),
    refusedWith("NotFound"),
  );
  assert.deepEqual((await admin.call(api.sites.get, { id: site.id })).projectIds, [first]);
});

test("an update sets its projects; without the field they stay, and an empty list means all again", async () => {
  const { id } = await create("changing", [first!]);
  const update = async (changes: { name?: string; projectIds?: string[] }) =>
    (await admin.call(api.sites.update, { id, ...changes })).projectIds;
  assert.deepEqual(await update({ projectIds: [second!, first!] }), [second, first]);
  assert.deepEqual(await update({ name: "changed" }), [second, first]);
  assert.deepEqual(await update({ projectIds: [] }), []);
});

test("a service-hosted site serves all projects, because their uploads go there: 400", async () => {
  const { id } = (await admin.call(api.sites.list, {})).find(({ type }) => type === "service-hosted")!;
  await assert.rejects(admin.call(api.sites.update, { id, projectIds: [first!] }), refusedWith("InvalidRequest"));
  assert.deepEqual((await admin.call(api.sites.update, { id, projectIds: [] })).projectIds, []);
});

test("a key that is limited to some projects sees the sites for those or for all, by list and id, and no other project's id", async () => {
  const [all, own, both, others] = [
    await create("s all", []),
    await create("s own", [second!]),
    await create("s both", [first!, second!], "self-hosted"),
    await create("s others", [first!]),
  ];
  const seen = (await limited.call(api.sites.list, {})).filter(({ name }) => name.startsWith("s "));
  assert.deepEqual(
    seen.map(({ id, projectIds }) => [id, projectIds]),
    [
      [all.id, []],
      [both.id, [second]],
      [own.id, [second]],
    ],
  );
  for (const { id } of [all, own, both]) assert.equal((await limited.call(api.sites.get, { id })).id, id);
  for (const call of [
    () => limited.call(api.sites.get, { id: others.id }),
    () => limited.call(api.agentSettings.getOfSite, { id: others.id }),
    () => limited.call(api.recordings.list, { edgeSiteId: others.id }),
    () => limited.call(api.edgeFiles.list, { siteId: others.id }),
  ])
    await assert.rejects(call(), refusedWith("NotFound", others.id));
  assert.deepEqual(await limited.call(api.recordings.list, { edgeSiteId: all.id }), []);
});

test("only keys for all projects see what an agent reports of all files at its site", async () => {
  const site = await create("talkative", []);
  const { token } = await admin.call(api.siteTokens.create, { siteId: site.id });
  const agent = await sayHello(cloud, { deviceId: "", token: token! });
  const { id: deviceId } = await admin.call(api.devices.create, { name: "robot", projectId: first! });
  await agent.report([brokenItem({ device: { id: deviceId } })]);
  const problems = [{ code: "Damaged", text: "secret/of/the/first.mcap is damaged", since: 0n }];
  await agent.call(api.edge.status, { files: { damaged: 1 }, problems });
  const whole = await admin.call(api.sites.get, { id: site.id });
  assert.deepEqual(whole.agent!.status!.files, { damaged: 1 });
  const listed = (await limited.call(api.sites.list, {})).find(({ id }) => id === site.id);
  assert.deepEqual(listed, await limited.call(api.sites.get, { id: site.id }));
  const { status: _, ...agentToAll } = whole.agent!;
  assert.deepEqual(listed, { ...whole, agent: agentToAll });
});
