import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, test } from "node:test";
import type { Client } from "@downlink/client";
import { api, ErrorBody } from "@downlink/protocol";
import { slowTest } from "@downlink/recordings/testing";
import { refusedWith } from "../../testing/refused-with.ts";
import { startCloud } from "../../testing/start-cloud.ts";
import { createStoppedClock } from "../../testing/test-clock.ts";

const clock = createStoppedClock(1_700_000_000_000_000_000n, { stepNs: 1n });
const cloud = await startCloud({ after }, { works: false, clock });
const { admin } = cloud;
const shared = { name: "shared", permission: "ORG_WRITE", data: { panels: [1, "ü"] } } as const;
const idsOf = async (client: Client) => (await client.call(api.layouts.list, {})).map(({ id }) => id);

test("a layout is created under the client's id and is returned whole", async () => {
  const id = randomUUID();
  const savedAt = 1_700_000_000_123_456_789n;
  const created = await admin.call(api.layouts.create, { ...shared, id, savedAt, folderName: "Robots & ü" });
  const { createdAt, updatedAt, ...rest } = created;
  assert.equal(createdAt, updatedAt);
  assert.deepEqual(rest, { ...shared, id, savedAt, folderName: "Robots & ü" });
  assert.deepEqual(await admin.call(api.layouts.get, { id, includeData: true }), created);
});

test("includeData is false by default for one and true for a list", async () => {
  const { id } = await admin.call(api.layouts.create, shared);
  assert.match(id, /^[0-9a-f-]{36}$/);
  assert.equal("data" in (await admin.call(api.layouts.get, { id })), false);
  const find = async (includeData?: boolean) =>
    (await admin.call(api.layouts.list, { includeData })).find((layout) => layout.id === id)!;
  assert.deepEqual((await find()).data, shared.data);
  assert.deepEqual(await find(true), await find());
  const { data: _, ...bare } = await find();
  assert.deepEqual(await find(false), bare);
});

const opaque: [what: string, text: string][] = [
  ["numbers that no double holds", '{"big":12345678901234567890,"huge":1e400,"tiny":-0,"exact":1.10,"e":1E+2}'],
  ["keys in their order, also those that look like numbers", '{"b":1,"10":2,"9":3,"a":4,"":5}'],
  ["keys that mean something to a program", '{"__proto__":{"x":1},"constructor":null,"toJSON":1,"rawJSON":"x"}'],
  ["repeated keys", '{"a":1,"a":2}'],
  ["escapes as they were written, NUL and lone surrogates too", '{"a":"\\u0000\\ud800\\/\\u00e9é😀"}'],
  ["space and line breaks", '{\n  "a" : [ 1 ,\t2 ]\r\n}'],
  ["the empty object", "{}"],
  ["values nested as deep as a body may be", `{"a":${"[".repeat(198)}${"]".repeat(198)}}`],
];
for (const [what, data] of opaque)
  test(`data is opaque and is returned to the character: ${what}`, async () => {
    const id = randomUUID();
    const body = `{"data": ${data} ,"id":"${id}","name":"n","permission":"ORG_READ"}`;
    const created = await send("POST", "/v1/layouts", body);
    assert.ok(created.text.endsWith(`,"data":${data}}`), created.text.slice(0, 500));
    const got = await send("GET", `/v1/layouts/${id}?includeData=true`);
    assert.equal(got.text, created.text);
    assert.ok((await send("GET", "/v1/layouts")).text.includes(created.text));
    const other = await send("PATCH", `/v1/layouts/${id}`, '{"data":{"data":[]}}');
    assert.ok(other.text.endsWith(',"data":{"data":[]}}'));
    const back = await send("PATCH", `/v1/layouts/${id}`, `{"name":"m","data":${data}}`);
    assert.ok(back.text.includes('"name":"m"') && back.text.endsWith(`,"data":${data}}`));
    await admin.call(api.layouts.delete, { id });
  });

slowTest(
  "a layout of nearly 4 MiB is stored, a larger one is 413, and a list of large ones arrives whole",
  async () => {
    const org = await cloud.otherOrganization();
    const data = { text: "x".repeat(4 * 1024 * 1024 - 200) };
    for (let count = 0; count < 4; count++) await org.call(api.layouts.create, { ...shared, data });
    const listed = await org.call(api.layouts.list, {});
    assert.deepEqual(
      listed.map((layout) => (layout.data as typeof data).text.length),
      Array.from({ length: 4 }, () => data.text.length),
    );
    const tooLarge = { ...shared, data: { text: "x".repeat(4 * 1024 * 1024) } };
    await assert.rejects(org.call(api.layouts.create, tooLarge), refusedWith("BodyTooLarge"));
  },
);

test("data that is nested too deep for other readers of the list is refused: 413", async () => {
  const deep = `{"a":${"[".repeat(199)}${"]".repeat(199)}}`;
  const refused = await send("POST", "/v1/layouts", `{"data":${deep},"name":"deep","permission":"ORG_READ"}`);
  assert.equal(refused.status, 413);
  assert.match(refused.text, /nested deeper than 200 levels/);
});

test("null data of an update is absent: the layout keeps its data", async () => {
  const { id } = await admin.call(api.layouts.create, shared);
  const answer = await send("PATCH", `/v1/layouts/${id}`, '{"name":"renamed","data": null }');
  assert.equal(answer.status, 200);
  const { name, data } = await admin.call(api.layouts.get, { id, includeData: true });
  assert.deepEqual([name, data], ["renamed", shared.data]);
});

test("ids have 1 to 36 characters; name, permission and data are required, and data is an object: 400", async () => {
  const create = (body: object | undefined) => send("POST", "/v1/layouts", body && JSON.stringify(body));
  assert.equal((await create({ ...shared, id: "y".repeat(36) })).status, 200);
  for (const wrong of [
    { id: "y".repeat(37) },
    { id: "" },
    { id: 5 },
    { name: undefined },
    { name: "" },
    { permission: undefined },
    { permission: "PUBLIC" },
    { data: undefined },
    { data: [] },
    { data: null },
    { data: "{}" },
    { folderName: "a/b" },
    { savedAt: "yesterday" },
    { id: "nul\u0000" },
  ])
    assert.equal((await create({ ...shared, ...wrong })).status, 400, JSON.stringify(wrong));
  assert.equal((await create(undefined)).status, 400);
  assert.equal((await send("POST", "/v1/layouts", '{"data":{"a":}}')).status, 400);
});

test("an id may have any characters, escaped in the path", async () => {
  for (const id of ["a/b", "100%", "Köln #1?", "😀"]) {
    await admin.call(api.layouts.create, { ...shared, id });
    assert.equal((await admin.call(api.layouts.get, { id })).id, id);
    assert.deepEqual(await admin.call(api.layouts.delete, { id }), { success: true });
  }
});

test("an id that exists is 409, even if it is deleted, and belongs to one organization only", async () => {
  const id = randomUUID();
  await admin.call(api.layouts.create, { ...shared, id });
  const again = () => admin.call(api.layouts.create, { ...shared, id, name: "again" });
  await assert.rejects(again(), refusedWith("NameTaken"));
  assert.equal((await admin.call(api.layouts.get, { id })).name, "shared");
  await admin.call(api.layouts.delete, { id });
  await assert.rejects(again(), refusedWith("NameTaken"));
  const other = await cloud.otherOrganization();
  assert.equal((await other.call(api.layouts.create, { ...shared, id })).id, id);
});

test("API keys create, update and see only shared layouts: CREATOR_WRITE is 403, and is never listed", async () => {
  const own = { ...shared, permission: "CREATOR_WRITE" } as const;
  await assert.rejects(admin.call(api.layouts.create, own), refusedWith("WrongCredentialKind"));
  const { id } = await admin.call(api.layouts.create, shared);
  const update = { id, permission: own.permission };
  await assert.rejects(admin.call(api.layouts.update, update), refusedWith("WrongCredentialKind"));
  assert.equal((await admin.call(api.layouts.update, { id, permission: "ORG_READ" })).permission, "ORG_READ");
  await cloud.deps.db.prisma.layout.updateMany({ where: { id }, data: { permission: "CREATOR_WRITE" } });
  for (const call of [
    () => admin.call(api.layouts.get, { id }),
    () => admin.call(api.layouts.update, { id, name: "x" }),
    () => admin.call(api.layouts.delete, { id }),
    () => admin.call(api.layouts.restore, { id }),
  ])
    await assert.rejects(call(), refusedWith("NotFound"));
  assert.equal((await idsOf(admin)).includes(id), false);
});

test("an update changes only the fields that are sent; an empty folderName removes it", async () => {
  const created = await admin.call(api.layouts.create, { ...shared, folderName: "folder" });
  const { id } = created;
  const renamed = await admin.call(api.layouts.update, { id, name: "renamed", savedAt: 5n });
  assert.deepEqual(renamed, { ...created, name: "renamed", savedAt: 5n, updatedAt: renamed.updatedAt });
  assert.ok(renamed.updatedAt > created.updatedAt);
  const unset = await admin.call(api.layouts.update, { id, folderName: "" });
  assert.equal("folderName" in unset, false);
  assert.equal((await send("PATCH", `/v1/layouts/${id}`)).status, 200);
  assert.equal((await admin.call(api.layouts.get, { id })).name, "renamed");
  assert.equal("folderName" in (await admin.call(api.layouts.create, { ...shared, folderName: "" })), false);
});

test("updatedSince is inclusive, and lists changed and restored layouts, and no deleted ones", async () => {
  const org = await cloud.otherOrganization();
  const [first, second] = [await org.call(api.layouts.create, shared), await org.call(api.layouts.create, shared)];
  const since = async (updatedSince: bigint) =>
    (await org.call(api.layouts.list, { updatedSince, includeData: false })).map(({ id }) => id);
  assert.deepEqual(await since(second.updatedAt), [second.id]);
  const { updatedAt } = await org.call(api.layouts.update, { id: first.id, name: "changed" });
  assert.deepEqual(await since(updatedAt), [first.id]);
  assert.deepEqual(await since(updatedAt + 1n), []);
  await org.call(api.layouts.delete, { id: second.id });
  assert.deepEqual(await since(0n), [first.id]);
  await org.call(api.layouts.restore, { id: second.id });
  assert.deepEqual(await since(updatedAt + 1n), [second.id]);
  assert.deepEqual(await since(0n), [first.id, second.id]);
});

test("a deleted layout is gone until it is restored as it was", async () => {
  const { id, updatedAt: _, ...created } = await admin.call(api.layouts.create, shared);
  assert.deepEqual(await admin.call(api.layouts.delete, { id }), { success: true });
  for (const call of [
    () => admin.call(api.layouts.get, { id }),
    () => admin.call(api.layouts.update, { id, name: "x" }),
    () => admin.call(api.layouts.delete, { id }),
  ])
    await assert.rejects(call(), refusedWith("NotFound"));
  assert.equal((await idsOf(admin)).includes(id), false);
  assert.deepEqual(await admin.call(api.layouts.restore, { id }), { success: true });
  assert.deepEqual(await admin.call(api.layouts.restore, { id }), { success: true });
  const { updatedAt: __, ...restored } = await admin.call(api.layouts.get, { id, includeData: true });
  assert.deepEqual(restored, { ...created, id });
  await assert.rejects(admin.call(api.layouts.restore, { id: "unknown" }), refusedWith("NotFound"));
});

test("another organization's layouts are neither listed, nor found, nor changed: 404", async () => {
  const other = await cloud.otherOrganization();
  const { id } = await other.call(api.layouts.create, { ...shared, name: "theirs" });
  for (const call of [
    () => admin.call(api.layouts.get, { id, includeData: true }),
    () => admin.call(api.layouts.update, { id, name: "ours" }),
    () => admin.call(api.layouts.delete, { id }),
    () => admin.call(api.layouts.restore, { id }),
  ])
    await assert.rejects(call(), refusedWith("NotFound"));
  assert.equal((await idsOf(admin)).includes(id), false);
  assert.equal((await other.call(api.layouts.get, { id })).name, "theirs");
});

test("lists are in the order of creation, and are paged with data and without", async () => {
  const org = await cloud.otherOrganization();
  assert.equal((await send("GET", "/v1/layouts?limit=0")).text, "[]");
  assert.deepEqual(await org.call(api.layouts.list, {}), []);
  const ids: string[] = [];
  for (let count = 0; count < 20; count++) ids.push((await org.call(api.layouts.create, shared)).id);
  for (const includeData of [true, false]) {
    const listed = await org.call(api.layouts.list, { includeData });
    const times = listed.map(({ createdAt, id }) => `${createdAt} ${id}`);
    assert.deepEqual(times, [...times].sort());
    assert.deepEqual(listed.map(({ id }) => id).sort(), [...ids].sort());
    assert.deepEqual(await org.call(api.layouts.list, { includeData, limit: 11, offset: 5 }), listed.slice(5, 16));
    assert.deepEqual(await org.call(api.layouts.list, { includeData, limit: 0 }), []);
  }
});

test("a refusal is JSON, and so is the list", async () => {
  const { headers } = await send("GET", "/v1/layouts");
  assert.match(headers.get("content-type")!, /^application\/json/);
  assert.ok(headers.get("x-request-id"));
  const refused = await send("GET", "/v1/layouts?updatedSince=x");
  assert.deepEqual([refused.status, ErrorBody.parse(JSON.parse(refused.text)).code], [400, "InvalidRequest"]);
});

async function send(method: string, path: string, body = "") {
  const headers = { authorization: `Bearer ${cloud.adminKey}`, "content-type": "application/json" };
  const response = await fetch(`${cloud.url}${path}`, { method, headers, ...(method !== "GET" && { body }) });
  return { status: response.status, headers: response.headers, text: await response.text() };
}
