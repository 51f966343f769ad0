import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { api } from "@downlink/protocol";
import { Hono } from "hono";
import { pino } from "pino";
import type { Env } from "./calls/connections/env.ts";
import { readConfig } from "./config.ts";
import { createMetrics } from "./process/metrics/metrics.ts";
import { requireFreePort, serveApp } from "./server.ts";
import { startCloud } from "./testing/start-cloud.ts";

const LIMIT_MS = 60_000;

test("a connection by which nothing came, as browsers open them ahead, does not hold up a stop; one by which a request comes does", async (t) => {
  const closes: (() => Promise<void>)[] = [];
  const environment = { DOWNLINK_GRACE: "3600s" };
  const cloud = await startCloud({ after: (close) => void closes.push(close) }, { works: false, environment });
  const used = await open(t, cloud.url);
  used.write("GET /livez HTTP/1.1\r\n");
  const unused = await open(t, cloud.url);
  await cloud.admin.call(api.projects.list, {}); // so that the process has accepted both
  const ended = (async () => {
    for (const close of closes) await close();
  })();
  await once(unused.resume(), "close", { signal: AbortSignal.timeout(LIMIT_MS) });
  assert.equal(unused.bytesRead, 0);
  used.write("host: localhost\r\n\r\n");
  assert.match(await text(used), /^HTTP\/1\.1 200 /);
  await ended;
});

test("calls that arrive while a process is too busy to look are answered before it closes", async (t) => {
  const app = new Hono<Env>().post("/made", (c) => c.text("made", 201));
  const config = { ...readConfig({ DATABASE_URL: "postgres://none" }), port: 0, drainSeconds: 0 };
  const served = { log: pino({ level: "silent" }), metrics: createMetrics(), beginStopping: () => {} };
  const server = await serveApp(app, config, served);
  const call = "POST /made HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n";
  const kept = await open(t, server.url);
  kept.write(`${call}\r\n`);
  await once(kept, "data");
  const ended = server[Symbol.asyncDispose]();
  kept.write(`${call}connection: close\r\n\r\n`);
  const opened = openAtOnce(t, server.url);
  const untilMs = performance.now() + 50;
  while (performance.now() < untilMs);
  opened.write(`${call}connection: close\r\n\r\n`);
  for (const socket of [kept, opened]) assert.match(await text(socket), /HTTP\/1\.1 201 /);
  await ended;
});

async function open(t: TestContext, url: string) {
  const socket = openAtOnce(t, url);
  await once(socket, "connect");
  return socket;
}

function openAtOnce(t: TestContext, url: string) {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  t.after(() => socket.destroy());
  return socket;
}

test("a port that is in use is named with the setting that chose it; a free one stays free", async (t) => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  t.after(() => other.close());
  const { port } = other.address() as AddressInfo;
  const config = { ...readConfig({}), port, workPort: port };
  const refusal = (setting: string) => ({
    message: `127.0.0.1:${port} is in use by another program; set ${setting} to another port`,
  });
  await assert.rejects(requireFreePort(config, { serves: true }), refusal("DOWNLINK_PORT"));
  await assert.rejects(requireFreePort(config, { serves: false }), refusal("DOWNLINK_WORK_PORT"));
  await requireFreePort({ ...config, workPort: undefined }, { serves: false });
  other.close();
  await once(other, "close");
  for (let time = 0; time < 2; time++) await requireFreePort(config, { serves: true });
});

test("an address that this machine does not have is named with the setting that chose it", async () => {
  const config = { ...readConfig({ DOWNLINK_HOST: "192.0.2.1" }), port: 8080 };
  await assert.rejects(
    requireFreePort(config, { serves: true }),
    /^\w+: cannot listen on 192\.0\.2\.1:8080 \(EADDRNOTAVAIL\); set DOWNLINK_HOST or DOWNLINK_PORT$/,
  );
});
