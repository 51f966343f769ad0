import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { api } from "@downlink/protocol";
import { makeMcap } from "@downlink/recordings/testing";
import { startControlPlane } from "./processes/control-plane.ts";
import { eventually } from "./processes/eventually.ts";

test("told to stop, it says so at once, ends held polls, takes calls for the set time, finishes an upload, and closes", async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), "downlink-drain-"));
  t.after(() => rm(dataDir, { recursive: true }));
  const env = { DOWNLINK_DRAIN: "3s", DOWNLINK_GRACE: "60s" };
  await using cloud = await startControlPlane({ dataDir, env });
  const authorization = { authorization: `Bearer ${cloud.adminKey}` };
  const statusOf = async (path: string) => (await fetch(`${cloud.url}${path}`, { headers: authorization })).status;

  const { link } = await cloud.admin.call(api.uploads.create, { filename: "a.mcap", deviceName: "robot" });
  const file = await makeMcap();
  const upload = request(link, { method: "PUT", headers: { "content-type": "application/octet-stream" } });
  upload.write(file.subarray(0, 100));
  const { answer: poll } = await holdPoll(cloud);
  const idle = new Agent({ keepAlive: true });
  await answerOf(request(`${cloud.url}/livez`, { agent: idle }));
  assert.equal(await statusOf("/readyz"), 200);

  const ended = cloud.program.end("SIGTERM");
  await eventually(
    () => statusOf("/readyz"),
    (status) => status === 503,
  );
  assert.equal((await poll).status, 200);
  const last = await fetch(`${cloud.url}/v1/devices`, { headers: authorization });
  assert.deepEqual([last.status, last.headers.get("connection")], [200, "close"]);
  await eventually(
    () =>
      fetch(`${cloud.url}/livez`).then(
        () => "open",
        () => "closed",
      ),
    (state) => state === "closed",
  );
  upload.end(file.subarray(100));
  assert.equal((await answerOf(upload)).statusCode, 200);
  assert.equal(await ended, 0);
});

/** A device's agent that waits for work, which there is none of. */
async function holdPoll({
  url,
  admin,
}: {
  url: string;
  admin: Awaited<ReturnType<typeof startControlPlane>>["admin"];
}) {
  const device = await admin.call(api.devices.create, { name: "waiting" });
  const { token } = await admin.call(api.deviceTokens.create, { deviceId: device.id });
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const hello = {
    agentVersion: "0.0.0-test",
    instanceId: "0".repeat(32),
    machineId: "machine",
    host: { hostname: "robot", platform: "linux", arch: "x64" },
    inventory: { count: 0, digest: createHash("sha256").digest("hex") },
    clock: new Date().toISOString(),
  };
  const said = await fetch(`${url}/v1/edge/hello`, { method: "POST", headers, body: JSON.stringify(hello) });
  assert.equal(said.status, 200);
  const { lease } = (await said.json()) as { lease: number };
  const withLease = { ...headers, "downlink-lease": String(lease) };
  const { etag } = (await (await fetch(`${url}/v1/edge/work`, { headers: withLease })).json()) as { etag: string };
  return { answer: fetch(`${url}/v1/edge/work?wait=30&etag=${etag}`, { headers: withLease }) };
}

async function answerOf(asked: ReturnType<typeof request>) {
  asked.end();
  const [answer] = await once(asked, "response");
  answer.resume();
  return answer as { statusCode: number };
}
