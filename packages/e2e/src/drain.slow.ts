import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { api } from "@downlink/protocol";
import { eventually, makeMcap } from "@downlink/recordings/testing";
import { startControlPlane } from "./processes/control-plane.ts";
import { holdPoll } from "./scenarios/held-poll.ts";

test("a process that is told to stop reports it at once, ends waiting polls, takes calls for the set time, finishes an upload, and closes", async (t) => {
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
  const { answer: poll } = await holdPoll(cloud, 30);
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

const CLIENTS = 24;

test("under load no call fails from the signal to the end, for who looks whether the process is ready as a balancer does", async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), "downlink-drain-"));
  t.after(() => rm(dataDir, { recursive: true }));
  await using cloud = await startControlPlane({ dataDir, env: { DOWNLINK_DRAIN: "10s", DOWNLINK_GRACE: "30s" } });
  let isReady = true;
  const watching = (async () => {
    while (isReady) isReady = (await fetch(`${cloud.url}/readyz`)).ok;
  })();
  let created = 0;
  const clients = Array.from({ length: CLIENTS }, async (_, client) => {
    for (let call = 0; isReady; call++) {
      if (call % 2 === 1) await cloud.admin.call(api.devices.list, { limit: 50 });
      else {
        await cloud.admin.call(api.devices.create, { name: `robot-${client}-${call}` });
        created += 1;
      }
    }
  });
  await eventually(
    async () => created,
    (count) => count > 5 * CLIENTS,
  );
  const ended = cloud.program.end("SIGTERM");
  await Promise.all([...clients, watching]); // each call was answered, or its error is thrown here
  assert.equal(await ended, 0);
  await using again = await startControlPlane({ dataDir });
  let stored = 0;
  for (let offset = 0, rows = 2000; rows === 2000; offset += rows) {
    rows = (await again.admin.call(api.devices.list, { offset })).length;
    stored += rows;
  }
  assert.equal(stored, created, "what was answered is there");
});

async function answerOf(asked: ReturnType<typeof request>) {
  asked.end();
  const [answer] = await once(asked, "response");
  answer.resume();
  return answer as { statusCode: number };
}
