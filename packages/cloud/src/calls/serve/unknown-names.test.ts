import assert from "node:assert/strict";
import { after, test } from "node:test";
import { IGNORED_HEADER } from "@downlink/protocol";
import { startCloud } from "../../testing/start-cloud.ts";

const cloud = await startCloud({ after }, { works: false });
const headers = { authorization: `Bearer ${cloud.adminKey}`, "content-type": "application/json" };

async function send(method: string, path: string, body?: object) {
  const answer = await fetch(`${cloud.url}/v1/${path}`, {
    method,
    headers,
    ...(body && { body: JSON.stringify(body) }),
  });
  const json = (await answer.json()) as { error?: string; id?: string; details?: object[] };
  return { status: answer.status, ignored: answer.headers.get(IGNORED_HEADER), json };
}

test("an unknown name in a body that opens or removes something is refused with the nearest known one", async () => {
  const device = await send("POST", "devices", { name: "robot" });
  const site = await send("POST", "sites", { name: "depot", type: "edge" });
  const key = { name: "reader", capabilities: ["recordings.list"] };
  const cases: [method: string, path: string, body: object, sentence: string][] = [
    ["POST", "api-keys", { ...key, projectIDs: ["prj_1"] }, "projectIDs is not known; did you mean projectIds?"],
    ["POST", "api-keys", { ...key, expiresat: "2027-01-01" }, "expiresat is not known; did you mean expiresAt?"],
    ["POST", "device-tokens", { deviceId: device.json.id, expiresat: "2027-01-01" }, "expiresat is not known"],
    [
      "PUT",
      "devices/robot/agent-settings",
      { uploadrate: "1MB/s" },
      "uploadrate is not known; did you mean uploadRate?",
    ],
    ["POST", "sites", { name: "b", type: "edge", projects: [] }, "projects is not known"],
    ["PATCH", `sites/${site.json.id}`, { nmae: "c" }, "nmae is not known"],
    [
      "POST",
      "webhooks",
      { name: "w", url: "https://example.com", eventTypes: [], enable: false },
      "did you mean enabled?",
    ],
  ];
  for (const [method, path, body, sentence] of cases) {
    const { status, json } = await send(method, path, body);
    assert.deepEqual([status, json.error?.includes(sentence)], [400, true], `${path}: ${json.error}`);
  }
  assert.deepEqual((await send("GET", "api-keys")).status, 200);
});

test("elsewhere an unknown name is ignored, and the answer's header names it", async () => {
  const made = await send("POST", "devices", { name: "other", colour: "red", "tür\n": 1 });
  assert.deepEqual([made.status, made.ignored], [200, "colour, t%C3%BCr%0A"]);
  const listed = await send("GET", "recordings?paht=a.mcap&topic=/imu&=&device.name=robot");
  assert.deepEqual([listed.status, listed.ignored], [200, "paht"]);
  assert.equal((await send("GET", "recordings?topic=/imu")).ignored, null);
  const asked = await send("POST", "data/stream?a=1", { recordingId: "rec_x", topix: [] });
  assert.deepEqual([asked.status, asked.ignored], [404, "topix"]);
});
