import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, ErrorBody } from "@downlink/protocol";
import { startCloud } from "./testing/start-cloud.ts";

const cloud = await startCloud({ after }, { works: false });
const { admin } = cloud;

async function send(method: string, path: string, body: unknown) {
  const headers = { authorization: `Bearer ${cloud.adminKey}`, "content-type": "application/json" };
  const response = await fetch(`${cloud.url}${path}`, { method, headers, body: JSON.stringify(body) });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

test("null for a field that may be absent means that it is absent", async () => {
  const made = await send("POST", "/v1/devices", { name: "robot", properties: null, projectId: null });
  assert.equal(made.status, 200);
  const unchanged = await send("PATCH", `/v1/devices/${made.body.id}`, { name: null, enabled: null });
  assert.deepEqual([unchanged.body.name, unchanged.body.enabled], ["robot", true]);
  const missing = await send("POST", "/v1/devices", { name: null });
  assert.equal(missing.status, 400);
  assert.deepEqual(ErrorBody.parse(missing.body).details, [{ path: "name", message: "must be a text" }]);
});

test("null clears a site's url and an event type's colorName, and an absent field leaves them", async () => {
  const { id } = await admin.call(api.sites.create, { name: "own", type: "self-hosted" });
  await admin.call(api.sites.update, { id, url: "https://site.example" });
  assert.equal((await admin.call(api.sites.update, { id, name: "other" })).url, "https://site.example");
  assert.equal((await send("PATCH", `/v1/sites/${id}`, { url: null })).body.url, undefined);
  assert.equal((await admin.call(api.sites.get, { id })).url, undefined);

  const type = await admin.call(api.eventTypes.create, { name: "stop", colorName: "red", customProperties: [] });
  assert.equal((await admin.call(api.eventTypes.update, { id: type.id, name: "halt" })).colorName, "red");
  assert.equal((await send("PATCH", `/v1/event-types/${type.id}`, { colorName: null })).body.colorName, undefined);
  assert.equal((await admin.call(api.eventTypes.get, { id: type.id })).colorName, undefined);
});

test("unknown property keys are ignored whatever their value is, and known ones are checked", async () => {
  const known = { label: "mode", resourceType: "device" } as const;
  await admin.call(api.customProperties.create, { ...known, key: "mode", valueType: "string" });
  const choices = { ...known, valueType: "multi-enum" as const, enumValues: ["a", "b"] };
  await admin.call(api.customProperties.create, { ...choices, key: "choices" });
  const { id } = await admin.call(api.devices.create, { name: "typed" });
  const path = `/v1/devices/${id}`;
  const deep = JSON.parse(`${"[".repeat(3000)}${"]".repeat(3000)}`) as unknown;
  const unknown = { nested: { a: [1] }, list: [1, null], "a\0": "\ud800", "": {}, deep };
  const { status, body } = await send("PATCH", path, { properties: { ...unknown, mode: "auto" } });
  assert.deepEqual([status, body.properties], [200, { mode: "auto" }]);
  const wrong = [
    { mode: {} },
    { mode: [] },
    { mode: "\0" },
    { choices: [1] },
    { choices: [{}] },
    { choices: "a" },
    { choices: deep },
  ];
  for (const properties of wrong) {
    const refused = await send("PATCH", path, { properties });
    assert.equal(refused.status, 400, JSON.stringify(properties));
    assert.equal(ErrorBody.parse(refused.body).details![0]!.path, `properties.${Object.keys(properties)[0]}`);
  }
});
