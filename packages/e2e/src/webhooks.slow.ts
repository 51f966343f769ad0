import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { type Client, createClient } from "@downlink/client";
import { undiciTransport } from "@downlink/client/node";
import { storeSettings } from "@downlink/cloud/testing";
import { api } from "@downlink/protocol";
import { eventually } from "@downlink/recordings/testing";
import { startExternalPostgres } from "./processes/external-postgres.ts";
import { startReplica } from "./replicas/replica.ts";
import { whyNotInCi } from "./replicas/why-not-in-ci.ts";

const ADMIN_KEY = `dl_sk_${"k".repeat(40)}`;
const FEWEST_DEVICES = 100;
/** The deliveries that a killed worker had taken are sent by another one after half a minute. */
const PATIENCE_MS = 150_000;

test("while workers and Postgres are killed, every acknowledged change arrives at its webhook, under one id", {
  skip: whyNotInCi(),
}, async (t) => {
  const { url, eventsOf } = await startReceiver(t);
  await using processes = await startProcesses();
  const { admin, falls } = processes;
  await admin.call(api.webhooks.create, { name: "all", url, eventTypes: ["device.created"] });
  let isOver = false;
  const striking = processes.strike().finally(() => {
    isOver = true;
  });
  striking.catch(() => {});
  const made: string[] = [];
  while (!isOver || made.length < FEWEST_DEVICES) {
    const headers = { "idempotency-key": `device ${made.length}` };
    made.push((await admin.call(api.devices.create, { name: `robot-${made.length}` }, { headers })).id);
  }
  await striking;
  await eventually(
    async () => made.filter((id) => !eventsOf.has(id)),
    (missing) => missing.length === 0,
    PATIENCE_MS,
  );
  assert.deepEqual([...eventsOf.keys()].sort(), made.sort(), "nothing is sent of what was not made");
  for (const [device, ids] of eventsOf) assert.equal(ids.size, 1, `${device} has ${[...ids]}`);
  assert.deepEqual(falls, []);
});

/** Starts a receiver that notes the ids of the events of each device. */
async function startReceiver(t: TestContext) {
  const eventsOf = new Map<string, Set<string>>();
  const server = createServer(async (request, response) => {
    const { device, webhookEventId } = JSON.parse(await text(request));
    eventsOf.set(device.id, (eventsOf.get(device.id) ?? new Set()).add(webhookEventId));
    response.writeHead(204).end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, eventsOf };
}

interface Processes extends AsyncDisposable {
  readonly admin: Client;
  /** The output of processes that ended by themselves. */
  readonly falls: readonly string[];
  /** Kills workers and Postgres, one after the other: what starts while Postgres does not answer ends, for a service manager to start again. */
  strike(): Promise<void>;
}

async function startProcesses(): Promise<Processes> {
  await using stack = new AsyncDisposableStack();
  const dataDir = await mkdtemp(join(tmpdir(), "downlink-webhooks-"));
  stack.defer(() => rm(dataDir, { recursive: true, force: true }));
  const postgres = stack.use(await startExternalPostgres(join(dataDir, "postgres")));
  const env = {
    ...{ ...storeSettings(dataDir), DOWNLINK_DATA_DIR: dataDir, DATABASE_URL: postgres.url },
    ...{ DOWNLINK_ADMIN_KEY: ADMIN_KEY, DOWNLINK_LOG_LEVEL: "warn", DOWNLINK_WEBHOOK_NETWORKS: "127.0.0.0/8" },
    ...{ DOWNLINK_PORT: "0", DOWNLINK_WORK_PORT: "0" },
  };
  const falls: string[] = [];
  const onFall = (story: string) => void falls.push(story);
  const start = async (name: string, command: "serve" | "work") =>
    stack.use(await startReplica({ name, command, env, onFall }));
  const server = await start("serve", "serve");
  const [first, second] = [await start("work 1", "work"), await start("work 2", "work")];
  const baseUrl = (await server.program().line(/^Downlink serves at /)).replace("Downlink serves at ", "");
  const admin = createClient({ baseUrl, token: ADMIN_KEY, transport: undiciTransport(), retries: 20 });
  const owned = stack.move();
  return {
    ...{ admin, falls },
    async strike() {
      for (const struck of [first, postgres, second, postgres, first]) await struck.restart("SIGKILL");
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
