import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { api } from "@downlink/protocol";
import { eventually } from "@downlink/recordings/testing";
import pg from "pg";
import { type ControlPlane, startControlPlane } from "./processes/control-plane.ts";

const KILLS = 4;

async function open(t: { after(close: () => Promise<void>): void }) {
  const dataDir = await mkdtemp(join(tmpdir(), "downlink-once-"));
  t.after(() => rm(dataDir, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }));
  return dataDir;
}

async function create({ url, adminKey }: ControlPlane, name: string, key: string) {
  const response = await fetch(`${url}/v1/devices`, {
    method: "POST",
    headers: { authorization: `Bearer ${adminKey}`, "content-type": "application/json", "idempotency-key": key },
    body: JSON.stringify({ name }),
  });
  const body = (await response.json()) as { id?: string; code?: string };
  return { status: response.status, body, retryAfter: response.headers.get("retry-after") };
}

test("a control plane that is killed between commit and answer has created the device, and a repeat gets that answer", async (t) => {
  const dataDir = await open(t);
  for (let kill = 0; kill < KILLS; kill++) {
    const [name, key] = [`device-${kill}`, `key-${kill}`];
    const killed = await startControlPlane({ dataDir });
    const database = await openDatabase(dataDir);
    const isThere = async () => (await database.query(`SELECT 1 FROM "Device" WHERE name = $1`, [name])).rowCount;
    const gone = send(killed, name, key);
    if (kill % 2 === 0) await eventually(isThere, (count) => count === 1);
    await database.end();
    await killed.program.end("SIGKILL");
    await gone;
    await using cloud = await startControlPlane({ dataDir });
    const [first, second] = [await create(cloud, name, key), await create(cloud, name, key)];
    assert.deepEqual([first.status, second.status, second.body.id], [200, 200, first.body.id], JSON.stringify(first));
    const devices = await cloud.admin.call(api.devices.list, {});
    assert.equal(devices.filter((device) => device.name === name).length, 1);
  }
});

test("while the first call runs a repeat waits, and is asked to come back after five seconds", async (t) => {
  const dataDir = await open(t);
  await using cloud = await startControlPlane({ dataDir });
  const database = await openDatabase(dataDir);
  await database.query("BEGIN");
  await database.query(`LOCK TABLE "Device" IN SHARE MODE`);
  const first = create(cloud, "robot", "key");
  const other = await openDatabase(dataDir);
  await eventually(
    async () => (await other.query("SELECT 1 FROM pg_locks WHERE NOT granted")).rowCount,
    (waiting) => waiting! > 0,
  );
  const { status, body, retryAfter } = await create(cloud, "robot", "key");
  assert.deepEqual([status, body.code, retryAfter], [409, "IdempotencyConflict", "1"]);
  const patient = create(cloud, "robot", "key");
  await database.query("ROLLBACK");
  assert.deepEqual([(await first).status, (await patient).body], [200, (await first).body]);
  await Promise.all([database.end(), other.end()]);
});

/** Opens the embedded database of a running control plane. */
async function openDatabase(dataDir: string): Promise<pg.Client> {
  const client = new pg.Client({ host: join(dataDir, "postgres"), user: "postgres", database: "postgres" });
  client.on("error", () => {}); // the connection ends with its control plane
  await client.connect();
  return client;
}

/** Sends the call and reads no answer. Resolves when the connection has ended. */
async function send({ url, adminKey }: ControlPlane, name: string, key: string): Promise<void> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname)
    .on("error", () => {})
    .resume();
  const body = JSON.stringify({ name });
  const lines = ["POST /v1/devices HTTP/1.1", `Host: ${hostname}`, `Authorization: Bearer ${adminKey}`];
  lines.push("Content-Type: application/json", `Idempotency-Key: ${key}`, `Content-Length: ${body.length}`, "", body);
  socket.write(lines.join("\r\n"));
  await new Promise((resolve) => socket.once("close", resolve));
}
