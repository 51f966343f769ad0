import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api } from "@downlink/protocol";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";

const cloud = await startCloud({ after }, { works: false });
const { admin } = cloud;

test("a self-hosted primary site and an edge site are created, found, and listed by name", async () => {
  const edge = await admin.call(api.sites.create, { name: "b depot", type: "edge", retainRecordingsSeconds: 0 });
  const hosted = await admin.call(api.sites.create, { name: "a plant", type: "self-hosted" });
  assert.match(edge.id, /^site_[0-9a-hjkmnp-tv-z]{26}$/);
  assert.deepEqual(edge, {
    ...{ id: edge.id, name: "b depot", type: "edge", retainRecordingsSeconds: 0 },
    projectIds: [],
  });
  assert.deepEqual(hosted, { id: hosted.id, name: "a plant", type: "self-hosted", projectIds: [] });
  assert.deepEqual(await admin.call(api.sites.get, { id: edge.id }), edge);
  const listed = await admin.call(api.sites.list, {});
  assert.deepEqual(
    listed.map(({ name, type }) => [name, type]),
    [
      ["a plant", "self-hosted"],
      ["b depot", "edge"],
      ["primary", "service-hosted"],
    ],
  );
  assert.deepEqual(await admin.call(api.sites.list, { limit: 1, offset: 1 }), [edge]);
  assert.deepEqual(await admin.call(api.sites.list, { limit: 0 }), []);
});

test("type is self-hosted or edge, and retainRecordingsSeconds is at least 0 and for edge sites only: else 400", async () => {
  for (const body of [
    {},
    { name: "x" },
    { type: "edge" },
    { name: "x", type: "service-hosted" },
    { name: "x", type: "byob" },
    { name: "", type: "edge" },
    { name: "x".repeat(101), type: "edge" },
    { name: "x", type: "edge", retainRecordingsSeconds: -1 },
    { name: "x", type: "edge", retainRecordingsSeconds: "5" },
    { name: "x", type: "self-hosted", retainRecordingsSeconds: 5 },
  ])
    assert.equal(await statusOf("POST", "/v1/sites", JSON.stringify(body)), 400, JSON.stringify(body));
  assert.equal(await statusOf("POST", "/v1/sites", '{"name":"x","type":"edge","retainRecordingsSeconds":1e400}'), 400);
  assert.equal(await statusOf("POST", "/v1/sites", ""), 400);
  const name = `${"x".repeat(98)}/ü`;
  const kept = await admin.call(api.sites.create, { name, type: "edge", retainRecordingsSeconds: 0.5 });
  assert.deepEqual([kept.name, kept.retainRecordingsSeconds], [name, 0.5]);
});

test("an update changes the fields that are sent: retainRecordingsSeconds on edge sites, url on self-hosted ones, else 400", async () => {
  const edge = await admin.call(api.sites.create, { name: "edge", type: "edge" });
  const hosted = await admin.call(api.sites.create, { name: "hosted", type: "self-hosted" });
  const url = "https://site.example/api";
  assert.deepEqual(await admin.call(api.sites.update, { id: edge.id, retainRecordingsSeconds: 60 }), {
    ...edge,
    retainRecordingsSeconds: 60,
  });
  assert.equal((await admin.call(api.sites.update, { id: edge.id, name: "renamed" })).retainRecordingsSeconds, 60);
  assert.deepEqual(await admin.call(api.sites.update, { id: hosted.id, url }), { ...hosted, url });
  assert.deepEqual(await admin.call(api.sites.update, { id: hosted.id }), { ...hosted, url });
  const invalid = refusedWith("InvalidRequest");
  await assert.rejects(admin.call(api.sites.update, { id: hosted.id, retainRecordingsSeconds: 60 }), invalid);
  await assert.rejects(admin.call(api.sites.update, { id: edge.id, url, name: "not taken" }), invalid);
  for (const wrong of ["site", "ftp://site.example", "javascript:alert(1)", ""])
    assert.equal(await statusOf("PATCH", `/v1/sites/${hosted.id}`, JSON.stringify({ url: wrong })), 400, wrong);
  assert.equal((await admin.call(api.sites.get, { id: edge.id })).name, "renamed");
});

test("deleting a site is permanent and removes its tokens", async () => {
  const { id } = await admin.call(api.sites.create, { name: "brief", type: "self-hosted" });
  const siteToken = await admin.call(api.siteTokens.create, { siteId: id });
  await admin.call(api.inboxTokens.create, { siteId: id });
  assert.deepEqual(await admin.call(api.sites.delete, { id }), { id });
  await assert.rejects(admin.call(api.sites.get, { id }), refusedWith("NotFound"));
  await assert.rejects(admin.call(api.sites.delete, { id }), refusedWith("NotFound"));
  assert.deepEqual(await admin.call(api.siteTokens.list, {}), []);
  assert.deepEqual(await admin.call(api.inboxTokens.list, {}), []);
  await assert.rejects(cloud.withToken(siteToken.token!).call(api.sites.list, {}), refusedWith("Unauthenticated"));
});

test("the service-hosted primary site is not deleted while it holds recordings or imports, or is the only one: 409", async () => {
  const primary = (await admin.call(api.sites.list, {})).find(({ type }) => type === "service-hosted")!;
  const remove = () => admin.call(api.sites.delete, { id: primary.id });
  await assert.rejects(remove(), /only one/);
  await admin.call(api.devices.create, { name: "robot" });
  await admin.call(api.uploads.create, { filename: "a.mcap", deviceName: "robot" });
  await assert.rejects(remove(), refusedWith("Conflict", /1 imports/));
  assert.deepEqual(await admin.call(api.sites.get, { id: primary.id }), primary);
});

test("another organization's sites are neither listed, nor found, nor changed: 404", async () => {
  const other = await cloud.otherOrganization();
  const { id } = await other.call(api.sites.create, { name: "theirs", type: "edge" });
  assert.ok((await admin.call(api.sites.list, {})).every((site) => site.id !== id));
  for (const call of [
    () => admin.call(api.sites.get, { id }),
    () => admin.call(api.sites.update, { id, name: "ours" }),
    () => admin.call(api.sites.delete, { id }),
  ])
    await assert.rejects(call(), refusedWith("NotFound"));
  assert.equal((await other.call(api.sites.get, { id })).name, "theirs");
});

async function statusOf(method: string, path: string, body: string): Promise<number> {
  const headers = { authorization: `Bearer ${cloud.adminKey}`, "content-type": "application/json" };
  return (await fetch(`${cloud.url}${path}`, { method, headers, body })).status;
}
