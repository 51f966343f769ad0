import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api, DEPRECATION_HEADER } from "@downlink/protocol";
import { startCloud } from "../../testing/start-cloud.ts";

const cloud = await startCloud({ after }, { works: false });
const { projectId } = await cloud.admin.call(api.devices.create, { name: "robot" });
const headers = { authorization: `Bearer ${cloud.adminKey}`, "content-type": "application/json" };

async function send(method: string, path: string, body?: object) {
  const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
  const answer = await fetch(`${cloud.url}/v1/${path}`, init);
  await answer.text();
  return [answer.status, answer.headers.get(DEPRECATION_HEADER)];
}

const firstDay = "@1795219200"; // 2026-11-21T00:00:00Z

test("a call of a deprecated operation is answered with the second since which it is", async () => {
  assert.deepEqual(await send("GET", "data/imports"), [200, firstDay]);
  assert.deepEqual(await send("DELETE", "data/imports/imp_none"), [404, firstDay]);
  assert.deepEqual(await send("GET", "recordings"), [200, null]);
});

test("a call that gives a deprecated parameter or field is answered so, and a refused one is too", async () => {
  assert.deepEqual(await send("GET", "audit?offset=1"), [200, firstDay]);
  assert.deepEqual(await send("GET", "audit?limit=1"), [200, null]);
  assert.deepEqual(await send("GET", "events?device.name=robot"), [200, firstDay]);
  assert.deepEqual(await send("GET", "events?device.name=robot&limit=x"), [400, firstDay]);
  assert.deepEqual(await send("GET", "events?deviceName=robot&unknown=1&offset=1"), [200, null]);
  assert.deepEqual(await send("POST", "data/stream", { importId: "imp_none" }), [404, firstDay]);
  assert.deepEqual(await send("POST", "data/stream", { recordingId: "rec_none" }), [404, null]);
});

test("of several deprecated names the earliest counts", async () => {
  const later = "@1795651200"; // 2026-11-26T00:00:00Z
  assert.deepEqual(await send("GET", `recording-attachments?importId=imp_none&projectId=${projectId}`), [200, later]);
  assert.deepEqual(await send("GET", "recording-attachments?importId=imp_none&device.name=robot"), [200, firstDay]);
});
