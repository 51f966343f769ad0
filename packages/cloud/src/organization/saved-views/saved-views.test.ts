import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, type CallInput, MAX_SAVED_VIEWS } from "@downlink/protocol";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { Browser } from "../sign-in/testing/browser.ts";

const cloud = await startCloud({ after }, { works: false });
const view = { name: "failed, a week", path: "/p/prj_1/recordings", query: "status=failed&from=now-7d" };
const namesOf = async (client: typeof cloud.admin) =>
  (await client.call(api.savedViews.list, {})).map(({ name }) => name);

test("a view is saved, listed by name, changed in parts and deleted", async () => {
  const client = cloud.withToken(await cloud.addKey([]));
  const saved = await client.call(api.savedViews.create, view);
  await client.call(api.savedViews.create, { name: "all", path: "/", query: "" });
  assert.deepEqual(await namesOf(client), ["all", view.name]);
  const changed = await client.call(api.savedViews.update, { id: saved.id, query: "status=complete" });
  assert.deepEqual([changed.name, changed.path, changed.query], [view.name, view.path, "status=complete"]);
  assert.deepEqual(await client.call(api.savedViews.delete, { id: saved.id }), { id: saved.id });
  assert.deepEqual(await namesOf(client), ["all"]);
});

test("each key and each member sees and changes its own views only, and they go with it", async () => {
  const { link } = await cloud.admin.call(api.invitations.create, { email: "ann@example.org", role: "user" });
  const browser = new Browser(cloud);
  await browser.accept(link!);
  const { id } = (await browser.ask({ path: "/v1/me" })).json as { id: string };
  const owned = { ...view, name: "ann's" };
  const saved = await browser.ask({ method: "POST", path: "/v1/saved-views", body: owned });
  assert.equal(saved.status, 200);
  const others = [cloud.admin, cloud.withToken(await cloud.addKey([])), await cloud.otherOrganization()];
  for (const other of others) {
    assert.deepEqual(await namesOf(other), []);
    const one = { id: saved.json.id as string };
    await assert.rejects(other.call(api.savedViews.update, { ...one, name: "taken" }), refusedWith("NotFound"));
    await assert.rejects(other.call(api.savedViews.delete, one), refusedWith("NotFound"));
  }
  const listed = (await browser.ask({ path: "/v1/saved-views" })).json as unknown as { name: string }[];
  assert.deepEqual(
    listed.map(({ name }) => name),
    ["ann's"],
  );
  await cloud.admin.call(api.members.delete, { id });
  assert.equal(await cloud.deps.db.prisma.savedView.count({ where: { name: "ann's" } }), 0);
});

test("a view leads to a page of ours and nowhere else", async () => {
  const save = (more: Partial<CallInput<typeof api.savedViews.create>>) =>
    cloud.admin.call(api.savedViews.create, { ...view, ...more });
  const paths = [
    "//evil.example",
    "/\\evil.example",
    "https://evil.example",
    "javascript:alert(1)",
    "",
    "/a?b",
    "/a#b",
    "/a\n",
  ];
  for (const path of paths) await assert.rejects(save({ path }), path);
  await assert.rejects(save({ query: "a#b" }));
  await assert.rejects(save({ name: "" }));
});

test("an owner has a limited number of views, also when they are saved at the same moment", async () => {
  const client = cloud.withToken(await cloud.addKey([]));
  const { apiKeyId } = await cloud.deps.db.prisma.savedView.findFirstOrThrow({
    where: { id: (await client.call(api.savedViews.create, view)).id },
  });
  const stamps = { createdAtNs: 0n, updatedAtNs: 0n };
  const rows = Array.from({ length: MAX_SAVED_VIEWS - 3 }, (_, n) => ({ id: `sv_${n}`, apiKeyId, ...view, ...stamps }));
  await cloud.deps.db.prisma.savedView.createMany({ data: rows });
  const saves = await Promise.allSettled(Array.from({ length: 6 }, () => client.call(api.savedViews.create, view)));
  assert.equal(saves.filter(({ status }) => status === "fulfilled").length, 2);
  await assert.rejects(client.call(api.savedViews.create, view), refusedWith("Conflict"));
});
