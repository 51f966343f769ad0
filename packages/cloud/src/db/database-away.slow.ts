import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { api } from "@downlink/protocol";
import { eventually, makeMcap } from "@downlink/recordings/testing";
import pg from "pg";
import { startCloud, type TestCloud } from "../testing/start-cloud.ts";
import { startAgent } from "../testing/test-agent.ts";
import { uploadFile } from "../testing/upload-file.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "./embedded-postgres.ts";

const MAX_CONNECTIONS = 40;
const POOL = 20;

interface Bed {
  readonly cloud: TestCloud;
  readonly url: string;
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** Opens a control plane over a server of its own, which the test stops and starts. */
async function openBed(t: TestContext): Promise<Bed> {
  const parent = mkdtempSync(join(tmpdir(), "database-away-"));
  const options = {
    dir: join(parent, "postgres"),
    settings: { fsync: "off", max_connections: String(MAX_CONNECTIONS) },
    log: { info() {}, warn() {} },
  };
  const server: { current: EmbeddedPostgres } = { current: await startEmbeddedPostgres(options) };
  const { url } = server.current;
  const cloud = await startCloud(t, { environment: { DATABASE_URL: url } });
  // The server ends after the control plane, which queries its database until it has closed.
  t.after(async () => {
    await server.current.stop();
    rmSync(parent, { recursive: true, force: true });
  });
  const start = async () => {
    server.current = await startEmbeddedPostgres(options);
  };
  return { cloud, url, stop: () => server.current.stop(), start };
}

async function ask(cloud: TestCloud, path: string) {
  const response = await fetch(`${cloud.url}${path}`, { headers: { authorization: `Bearer ${cloud.adminKey}` } });
  const { status, headers } = response;
  return { status, retryAfter: headers.get("retry-after"), body: await response.text() };
}

const readDevices = (cloud: TestCloud) => () => ask(cloud, "/v1/devices");
const isDone = ({ status }: { status: number }) => status === 200;

async function assertAway(cloud: TestCloud): Promise<void> {
  for (const path of ["/v1/devices", "/readyz"]) {
    const { status, retryAfter, body } = await ask(cloud, path);
    assert.deepEqual([status, Number(retryAfter) > 0, JSON.parse(body).code], [503, true, "Unavailable"], body);
  }
  assert.equal((await ask(cloud, "/livez")).status, 200);
}

test("while Postgres is stopped calls are 503, and once it is back calls, polls and jobs go on by themselves", async (t) => {
  const { cloud, stop, start } = await openBed(t);
  const agent = await startAgent(cloud, "robot");
  const { etag } = await agent.call(api.edge.work, {});
  const poll = agent.call(api.edge.work, { etag, wait: 10 }).catch((error: unknown) => error);
  await stop();
  await assertAway(cloud);
  assert.match((await ask(cloud, "/metrics")).body, /^downlink_database_up 0$/m);
  await start();
  await eventually(readDevices(cloud), isDone);
  assert.equal((await ask(cloud, "/readyz")).status, 200);
  assert.match((await ask(cloud, "/metrics")).body, /^downlink_database_up 1$/m);
  const { status } = ((await poll) ?? {}) as { status?: number };
  assert.ok(status === undefined || status === 503, String(status));
  const { importStatus } = await imported(cloud);
  assert.equal(importStatus, "complete");
});

test("calls during an outage succeed or are 503 with the time to wait, never another failure, and every success is stored", async (t) => {
  const { cloud, stop, start } = await openBed(t);
  const done: string[] = [];
  let isOver = false;
  const callers = Array.from({ length: 8 }, async (_, caller) => {
    for (let index = 0; !isOver; index++) {
      const name = `device-${caller}-${index}`;
      const response = await fetch(`${cloud.url}/v1/devices`, {
        method: "POST",
        headers: { authorization: `Bearer ${cloud.adminKey}`, "content-type": "application/json" },
        body: JSON.stringify({ name }),
      });
      const body = await response.text();
      if (response.status === 200) done.push(name);
      else assert.deepEqual([response.status, response.headers.has("retry-after")], [503, true], body);
    }
  });
  for (let restart = 0; restart < 3; restart++) {
    const before = done.length;
    await eventually(
      async () => done.length,
      (count) => count > before + 20,
    );
    await stop();
    await start();
  }
  await eventually(readDevices(cloud), isDone);
  isOver = true;
  await Promise.all(callers);
  const there = new Set((await cloud.deps.db.prisma.device.findMany()).map(({ name }) => name));
  assert.deepEqual(
    done.filter((name) => !there.has(name)),
    [],
  );
});

test("a server without a free connection counts as unavailable until it has one", async (t) => {
  const { cloud, url } = await openBed(t);
  const others = await holdConnections(t, url);
  const readBesideOthers = async () => {
    // The server may win one of the connections back that are taken from it here, so they are taken until it has none.
    await others[0]!.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'downlink'",
    );
    others.push(...(await holdConnections(t, url)));
    return await readDevices(cloud)();
  };
  await eventually(readBesideOthers, ({ status }) => status === 503);
  await assertAway(cloud);
  for (const client of others) await client.end();
  await eventually(readDevices(cloud), isDone);
});

test("a process whose connections are all busy answers 503 when none comes free, and serves again when one does", async (t) => {
  const { cloud } = await openBed(t);
  const held = await Promise.all(Array.from({ length: POOL }, () => cloud.deps.db.pool.connect()));
  const release = () => held.splice(0).map((client) => client.release());
  t.after(release);
  const [{ status, retryAfter }, ready] = await Promise.all([ask(cloud, "/v1/devices"), ask(cloud, "/readyz")]);
  assert.deepEqual([status, Number(retryAfter) > 0, ready.status], [503, true, 503]);
  assert.match((await ask(cloud, "/metrics")).body, /^downlink_database_connections\{state="busy"\} 20$/m);
  release();
  assert.equal((await ask(cloud, "/v1/devices")).status, 200);
});

test("a process that is told to stop while its database is away ends as always: with code 0, and prints nothing but its log", async (t) => {
  const { cloud, url, stop } = await openBed(t);
  const adminKey = "dl_sk_0123456789abcdefghijklmnopqrstuvwxyz";
  const env = {
    DATABASE_URL: url,
    DOWNLINK_PORT: "0",
    DOWNLINK_DATA_DIR: cloud.dataDir, // another store would stop the start
    DOWNLINK_ADMIN_KEY: adminKey,
  };
  const child = spawn(process.execPath, [fileURLToPath(new URL("../main.ts", import.meta.url)), "all"], {
    env: { ...env, DOWNLINK_LOG_LEVEL: "info", DOWNLINK_WORK_PORT: "" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  t.after(() => child.kill("SIGKILL"));
  const printed = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name].setEncoding("utf8").on("data", (text: string) => {
      printed[name] += text;
    });
  const exited = once(child, "exit");
  const at = await eventually(
    async () => /serves at (\S+)/.exec(printed.stdout)?.[1],
    (found) => found !== undefined,
  );
  const ready = async () => (await fetch(`${at}/readyz`)).status;
  const { status } = await fetch(`${at}/v1/devices`, { headers: { authorization: `Bearer ${adminKey}` } });
  assert.ok([200, 401].includes(status), "its uses are noted, whoever it is");
  await stop();
  await eventually(ready, (now) => now === 503);
  child.kill("SIGTERM");
  assert.deepEqual(await exited, [0, null], printed.stderr);
  const lines = `${printed.stdout}${printed.stderr}`.split("\n").filter((line) => line !== "");
  const others = lines.filter((line) => !line.startsWith("{"));
  assert.deepEqual(
    others.filter((line) => /^\s+at |Error/.test(line)),
    [],
    others.join("\n"),
  );
});

/** Opens all connections that the server still gives. */
async function holdConnections(t: TestContext, url: string): Promise<pg.Client[]> {
  const held: pg.Client[] = [];
  t.after(() => Promise.allSettled(held.map((client) => client.end())));
  for (;;) {
    const client = new pg.Client({ connectionString: url });
    client.on("error", () => {});
    try {
      await client.connect();
      held.push(client);
    } catch (error) {
      if ((error as { code?: string }).code === "53300") return held;
      throw error;
    }
  }
}

async function imported(cloud: TestCloud) {
  const { recordingId } = await uploadFile(cloud, await makeMcap(), { filename: "a.mcap", deviceName: "robot" });
  await delay(0);
  return cloud.admin.call(api.recordings.get, { keyOrId: recordingId! });
}
