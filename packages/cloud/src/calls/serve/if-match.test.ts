import assert from "node:assert/strict";
import { after, test } from "node:test";
import { api } from "@downlink/protocol";
import { startCloud } from "../../testing/start-cloud.ts";

const cloud = await startCloud({ after }, { works: false });
const { admin } = cloud;
const { id: deviceId } = await admin.call(api.devices.create, { name: "robot" });
const event = await admin.call(api.events.create, { deviceId, start: 1n, end: 2n });
const { id: projectId } = await admin.call(api.projects.create, { name: "one" });

async function send(method: string, path: string, { ifMatch, body }: { ifMatch?: string; body?: object } = {}) {
  const response = await fetch(`${cloud.url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${cloud.adminKey}`,
      "content-type": "application/json",
      ...(ifMatch !== undefined && { "if-match": ifMatch }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const { code } = (await response.json()) as { code?: string };
  return { status: response.status, code, etag: response.headers.get("etag")! };
}

for (const [path, changes] of [
  ["/v1/devices/robot", [{ retainRecordingsSeconds: 60 }, { retainRecordingsSeconds: 61 }]],
  [`/v1/events/${event.id}`, [{ metadata: { n: "1" } }, { metadata: { n: "2" } }]],
] as const)
  test(`a change of ${path} is made only if the thing has the tag that If-Match names`, async () => {
    const { etag } = await send("GET", path);
    const answers = await Promise.all(changes.map((body) => send("PATCH", path, { ifMatch: etag, body })));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 412], "of two at the same moment one is made");
    const stale = await send("DELETE", path, { ifMatch: etag });
    assert.deepEqual([stale.status, stale.code], [412, "PreconditionFailed"]);
    const now = await send("GET", path);
    assert.notEqual(now.etag, etag);
    const both = `"other", ${now.etag}`;
    assert.equal((await send("PATCH", path, { ifMatch: both, body: changes[0] })).status, 200);
    assert.equal((await send("PATCH", path, { ifMatch: "*", body: changes[1] })).status, 200);
    assert.equal((await send("PATCH", path, { body: changes[0] })).status, 200);
  });

test("If-Match is refused where there is no ETag, and nothing is changed", async () => {
  const answer = await send("PATCH", `/v1/projects/${projectId}`, { ifMatch: "*", body: { name: "two" } });
  assert.deepEqual([answer.status, answer.code], [412, "PreconditionFailed"]);
  assert.ok((await admin.call(api.projects.list, {})).every(({ name }) => name !== "two"));
  const layout = await admin.call(api.layouts.create, { name: "one", permission: "ORG_WRITE", data: {} });
  assert.equal((await send("PATCH", `/v1/layouts/${layout.id}`, { ifMatch: "*", body: { name: "two" } })).status, 412);
  assert.equal((await admin.call(api.layouts.get, { id: layout.id })).name, "one");
});
