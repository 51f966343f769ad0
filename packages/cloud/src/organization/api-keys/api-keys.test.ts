import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Client } from "@downlink/client";
import { api, type Capability } from "@downlink/protocol";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";

const cloud = await startCloud({ after }, { works: false });
const { admin } = cloud;
/** The last use of a key is stored some time later, so that two lists may differ in it. */
const keysOf = async (client: Client, page: { limit?: number; offset?: number } = {}) =>
  (await client.call(api.apiKeys.list, page)).map(({ lastUsedAt: _, ...key }) => key);
const everything = ["*"] as const;
const manage: Capability[] = ["apiKeys.create", "apiKeys.delete", "apiKeys.list", "apiKeys.update"];

test("a key's text is shown once, opens what it was made for, and only its hash is stored", async () => {
  const created = await admin.call(api.apiKeys.create, { name: " reader ", capabilities: ["devices.list"] });
  assert.match(created.token!, /^dl_sk_[0-9A-Za-z]{47}$/);
  assert.match(created.id, /^key_[0-9a-hjkmnp-tv-z]{26}$/);
  const { token, ...row } = created;
  const { createdBy: _, hint: __, ...kept } = row; // see tokens/token-facts.test.ts
  assert.deepEqual(
    { ...kept, id: "", createdAt: 0n },
    {
      id: "",
      name: "reader",
      capabilities: ["devices.list"],
      projectIds: [],
      createdAt: 0n,
      createdByFormerAdmin: false,
      enabled: true,
    },
  );
  assert.deepEqual((await keysOf(admin)).at(-1), row);
  assert.deepEqual(await cloud.withToken(token!).call(api.devices.list, {}), []);
  await assert.rejects(
    cloud.withToken(token!).call(api.devices.create, { name: "x" }),
    refusedWith("MissingCapability"),
  );
  const stored = await cloud.deps.db.pool.query(`SELECT * FROM "ApiKey" WHERE "id" = $1`, [created.id]);
  assert.ok(!JSON.stringify(stored.rows).includes(token!));
});

test("two keys may have one name; a name has 1 to 100 characters, a key at least one capability that exists", async () => {
  const body = { name: "same", capabilities: ["devices.list" as const] };
  assert.notEqual((await admin.call(api.apiKeys.create, body)).id, (await admin.call(api.apiKeys.create, body)).id);
  const name = "ü".repeat(100);
  assert.equal((await admin.call(api.apiKeys.create, { ...body, name })).name, name);
  for (const wrong of [
    { name: "" },
    { name: "  " },
    { name: `${name}x` },
    { capabilities: [] },
    { capabilities: ["devices.fly" as Capability] },
  ])
    assert.equal(await statusOf("POST", "/v1/api-keys", { ...body, ...wrong }), 400, JSON.stringify(wrong));
  assert.equal(await statusOf("POST", "/v1/api-keys", undefined), 400);
});

test("a key may grant only capabilities that it holds itself: 403 names what is missing", async () => {
  const granter = cloud.withToken(await cloud.addKey([...manage, "devices.list"]));
  const made = await granter.call(api.apiKeys.create, {
    name: "made",
    capabilities: ["devices.list", "apiKeys.list", "devices.list"],
  });
  assert.deepEqual(made.capabilities, ["devices.list", "apiKeys.list"]);
  await assert.rejects(
    granter.call(api.apiKeys.create, { name: "more", capabilities: ["devices.list", "devices.delete"] }),
    refusedWith("MissingCapability", /devices\.delete/),
  );
  for (const capabilities of [everything, ["devices.create"] as const])
    for (const call of [
      () => granter.call(api.apiKeys.create, { name: "more", capabilities: [...capabilities] }),
      () => granter.call(api.apiKeys.update, { id: made.id, capabilities: [...capabilities] }),
    ])
      await assert.rejects(call(), refusedWith("MissingCapability"));
  assert.deepEqual((await keysOf(admin)).find(({ id }) => id === made.id)!.capabilities, made.capabilities);
});

test("what a key does not hold itself it may take from another key, and not give back: neither by capability nor by enabling", async () => {
  const keeper = cloud.withToken(await cloud.addKey(["apiKeys.update"]));
  const { id } = await admin.call(api.apiKeys.create, {
    name: "strong",
    capabilities: ["devices.list", "devices.create"],
  });
  const weaker = await keeper.call(api.apiKeys.update, { id, capabilities: ["devices.list"] });
  assert.deepEqual(weaker.capabilities, ["devices.list"]);
  assert.equal((await keeper.call(api.apiKeys.update, { id, enabled: false, name: "weak" })).enabled, false);
  await assert.rejects(keeper.call(api.apiKeys.update, { id, enabled: true }), refusedWith("MissingCapability"));
  await assert.rejects(
    keeper.call(api.apiKeys.update, { id, capabilities: ["devices.create"] }),
    refusedWith("MissingCapability"),
  );
  const after = await admin.call(api.apiKeys.update, { id, enabled: true });
  assert.deepEqual([after.name, after.enabled, after.capabilities], ["weak", true, ["devices.list"]]);
});

test("a disabled key and a deleted one are refused at once", async () => {
  const { id, token } = await admin.call(api.apiKeys.create, { name: "brief", capabilities: ["devices.list"] });
  const list = () => cloud.withToken(token!).call(api.devices.list, {});
  await admin.call(api.apiKeys.update, { id, enabled: false });
  await assert.rejects(list(), refusedWith("Unauthenticated"));
  await admin.call(api.apiKeys.update, { id, enabled: true });
  await list();
  assert.deepEqual(await admin.call(api.apiKeys.delete, { id }), { id });
  await assert.rejects(list(), refusedWith("Unauthenticated"));
  await assert.rejects(admin.call(api.apiKeys.delete, { id }), refusedWith("NotFound"));
  await assert.rejects(admin.call(api.apiKeys.update, { id, name: "x" }), refusedWith("NotFound"));
});

test("the last enabled key that may do everything everywhere is neither disabled, nor deleted, nor weakened: 409", async () => {
  const org = await cloud.otherOrganization();
  const [first] = await keysOf(org);
  const [project] = await org.call(api.projects.list, {});
  const within = { name: "all of one project", capabilities: [...everything], projectIds: [project!.id] };
  await org.call(api.apiKeys.create, within);
  const off = await org.call(api.apiKeys.create, { name: "off", capabilities: [...everything] });
  await org.call(api.apiKeys.update, { id: off.id, enabled: false });
  for (const call of [
    () => org.call(api.apiKeys.delete, { id: first!.id }),
    () => org.call(api.apiKeys.update, { id: first!.id, enabled: false }),
    () => org.call(api.apiKeys.update, { id: first!.id, capabilities: ["devices.list"] }),
  ])
    await assert.rejects(call(), refusedWith("Conflict"));
  assert.deepEqual((await keysOf(org))[0], first);
  await org.call(api.apiKeys.update, { id: first!.id, name: "renamed" });
  await org.call(api.apiKeys.update, { id: off.id, enabled: true });
  assert.deepEqual(await org.call(api.apiKeys.delete, { id: first!.id }), { id: first!.id });
});

test("of two last keys that are deleted at the same moment, one stays", async () => {
  const org = await cloud.otherOrganization();
  const [first] = await keysOf(org);
  const second = await org.call(api.apiKeys.create, { name: "second", capabilities: [...everything] });
  const asSecond = cloud.withToken(second.token!);
  const outcomes = await Promise.allSettled([
    org.call(api.apiKeys.delete, { id: second.id }),
    asSecond.call(api.apiKeys.delete, { id: first!.id }),
  ]);
  assert.deepEqual(outcomes.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
});

test("a key may grant only projects that it may see and that exist, else 404; a key limited to projects never grants all of them", async () => {
  const [project] = await admin.call(api.projects.list, {});
  const { id: another } = await admin.call(api.projects.create, { name: "another" });
  const theirs = (await (await cloud.otherOrganization()).call(api.projects.list, {}))[0]!.id;
  const limited = cloud.withToken(await cloud.addKey([...manage, "projects.list"], [project!.id]));
  const key = { name: "limited", capabilities: ["projects.list" as const] };
  for (const projectIds of [["prj_unknown"], [project!.id, theirs]])
    await assert.rejects(admin.call(api.apiKeys.create, { ...key, projectIds }), refusedWith("NotFound"));
  await assert.rejects(limited.call(api.apiKeys.create, { ...key, projectIds: [another] }), refusedWith("NotFound"));
  await assert.rejects(limited.call(api.apiKeys.create, key), refusedWith("InvalidRequest"));
  const made = await limited.call(api.apiKeys.create, { ...key, projectIds: [project!.id, project!.id] });
  assert.deepEqual(made.projectIds, [project!.id]);
  const seen = await cloud.withToken(made.token!).call(api.projects.list, {});
  assert.deepEqual(
    seen.map(({ id }) => id),
    [project!.id],
  );
});

test("a key that is limited to some projects sees and changes only keys within those", async () => {
  const [project] = await admin.call(api.projects.list, {});
  const { id: another } = await admin.call(api.projects.create, { name: "a third" });
  const limited = cloud.withToken(await cloud.addKey(manage, [project!.id]));
  const key = { name: "wide", capabilities: ["apiKeys.list" as const] };
  const wide = await admin.call(api.apiKeys.create, key);
  const both = await admin.call(api.apiKeys.create, { ...key, projectIds: [project!.id, another] });
  const inside = await admin.call(api.apiKeys.create, { ...key, projectIds: [project!.id] });
  const seen = (await keysOf(limited)).map(({ id }) => id);
  assert.deepEqual([seen.includes(inside.id), seen.includes(both.id), seen.includes(wide.id)], [true, false, false]);
  for (const { id } of [wide, both]) {
    await assert.rejects(limited.call(api.apiKeys.delete, { id }), refusedWith("NotFound"));
    await assert.rejects(limited.call(api.apiKeys.update, { id, enabled: false }), refusedWith("NotFound"));
  }
  await limited.call(api.apiKeys.delete, { id: inside.id });
});

test("another organization's keys are neither listed nor changed: 404", async () => {
  const other = await cloud.otherOrganization();
  const [theirs] = await keysOf(other);
  assert.ok((await keysOf(admin)).every(({ id }) => id !== theirs!.id));
  await assert.rejects(admin.call(api.apiKeys.delete, { id: theirs!.id }), refusedWith("NotFound"));
  await assert.rejects(admin.call(api.apiKeys.update, { id: theirs!.id, name: "x" }), refusedWith("NotFound"));
});

test("lists are paged in the order of creation", async () => {
  const all = await keysOf(admin);
  const page = await keysOf(admin, { limit: 2, offset: 1 });
  assert.deepEqual(page, all.slice(1, 3));
  assert.deepEqual(await admin.call(api.apiKeys.list, { limit: 0 }), []);
});

async function statusOf(method: string, path: string, body: unknown): Promise<number> {
  const headers = { authorization: `Bearer ${cloud.adminKey}`, "content-type": "application/json" };
  return (await fetch(`${cloud.url}${path}`, { method, headers, body: JSON.stringify(body) })).status;
}
