import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, ErrorBody } from "@downlink/protocol";
import { operations } from "./testing/races/run-operation.ts";
import { startCloud } from "./testing/start-cloud.ts";

const cloud = await startCloud({ after }, { works: false });
const device = await cloud.admin.call(api.devices.create, { name: "robot" });
const headers = { authorization: `Bearer ${cloud.adminKey}`, "content-type": "application/json" };
const first = "0001-01-01T00:00:00Z";
const last = "9999-12-31T23:59:59Z";

const isTime = ({ safeParse }: { safeParse(given: unknown): { data?: unknown } }) =>
  typeof safeParse("2026-01-01").data === "bigint";
const lists = operations.filter(({ operation: { query } }) => Object.values(query?.shape ?? {}).some(isTime));

test("times that no clock of ours reaches are valid bounds of every list", async () => {
  assert.ok(lists.length > 10);
  for (const { called, operation } of lists) {
    const times = Object.entries(operation.query!.shape).filter(([, field]) => isTime(field));
    const bounds = times.map(([name]) => [name, name.toLowerCase().endsWith("end") ? last : first]);
    const bins = called === "coverage.grid" ? [["binNs", "1000"]] : [];
    const path = operation.path.replace("{nameOrId}", device.id).replace(/\{\w+\}/g, "1");
    const response = await fetch(
      `${cloud.url}${path}?${new URLSearchParams(Object.fromEntries([...bounds, ...bins]))}`,
      { headers },
    );
    if (called === "lakeFiles.list") assert.equal(ErrorBody.parse(await response.json()).details![0]!.path, "siteId");
    else assert.equal(response.status, path.startsWith("/v1/datasets/") ? 404 : 200, called);
  }
});

test("elsewhere such a time is 400 and the message names the range", async () => {
  const event = { deviceId: device.id, start: first, end: last };
  const response = await fetch(`${cloud.url}/v1/events`, { method: "POST", headers, body: JSON.stringify(event) });
  const { details } = ErrorBody.parse(await response.json());
  const message = "must be from 1677-09-21T00:12:43.145224192Z to 2262-04-11T23:47:16.854775807Z";
  assert.deepEqual(details, [
    { path: "start", message },
    { path: "end", message },
  ]);
});

test("names that no path can contain are refused for devices, sessions, recordings and layouts", async () => {
  const bodies = [
    ["/v1/devices", "name", {}],
    ["/v1/sessions", "key", { deviceId: device.id }],
    ["/v1/data/upload", "key", { filename: "a" }],
    ["/v1/data/upload", "sessionKey", { filename: "a", deviceId: device.id }],
    ["/v1/layouts", "id", { name: "a", permission: "ORG_READ", data: {} }],
  ] as const;
  for (const [path, field, rest] of bodies)
    for (const name of [".", ".."]) {
      const body = JSON.stringify({ ...rest, [field]: name });
      const response = await fetch(`${cloud.url}${path}`, { method: "POST", headers, body });
      const { details } = ErrorBody.parse(await response.json());
      assert.deepEqual([response.status, details![0]!.path], [400, field], `${path} ${name}`);
      assert.match(details![0]!.message, / \. or \.\./);
    }
});
