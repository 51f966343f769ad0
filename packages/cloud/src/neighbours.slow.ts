import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { after, type TestContext, test } from "node:test";
import { api, LEASE_HEADER } from "@downlink/protocol";
import { eventually, makeMcap } from "@downlink/recordings/testing";
import pg from "pg";
import { hashToken } from "./process/credentials/mint.ts";
import { turnLimits } from "./process/limits/turns.ts";
import { startCloud } from "./testing/start-cloud.ts";
import { startAgent } from "./testing/test-agent.ts";
import { uploadFile } from "./testing/upload-file.ts";

// A tenant that asks for much and never takes it, or never gets it, keeps nothing from another tenant. Each test lets such calls wait on
// statements that do not end before the other tenant's lists were answered; these are the lists. `npm run bench:neighbours` prints how long
// they take.

const cloud = await startCloud({ after });
const { admin, deps } = cloud;
const { pool } = deps.db;
const agent = await startAgent(cloud, "robot");
const { orgId } = await admin.call(api.devices.get, { nameOrId: "robot" });
const neighbour = await cloud.otherOrganization();
const { id: deviceId } = await neighbour.call(api.devices.create, { name: "theirs" });
await neighbour.call(api.events.create, { deviceId, start: 1n, end: 2n });
const agentHeaders = { authorization: `Bearer ${agent.token}`, [LEASE_HEADER]: String(agent.hello.lease) };
const LOCK = 4_711;

/** Large reads that run at the same time wait for each other anyway, so a few lists stand for all. */
async function requireLists(): Promise<void> {
  for (let n = 0; n < 10; n++) {
    assert.equal((await neighbour.call(api.events.list, { limit: 50 })).length, 1);
    assert.equal((await neighbour.call(api.devices.list, {})).length, 1);
  }
}

/** From now on each statement that names one of the texts keeps its connection, until the returned function is called. */
async function hold(t: TestContext, names: readonly string[]): Promise<() => Promise<void>> {
  const holder = new pg.Client({ connectionString: pool.options.connectionString });
  await holder.connect();
  await holder.query("SELECT pg_advisory_lock($1)", [LOCK]);
  const query = pool.query.bind(pool) as (...given: unknown[]) => Promise<unknown>;
  t.mock.method(pool, "query", async (...given: unknown[]) => {
    if (names.some((name) => JSON.stringify(given, toText).includes(name)))
      await query("SELECT pg_advisory_xact_lock_shared($1)", [LOCK]);
    return query(...given);
  });
  return async () => {
    await holder.end();
    t.mock.restoreAll();
  };
}

/** Counts the connections of the pool that wait in {@link hold}. */
async function heldConnections(): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    "SELECT count(*)::int AS count FROM pg_locks WHERE locktype = 'advisory' AND objid = $1 AND NOT granted",
    [LOCK],
  );
  return rows[0]!.count;
}

function toText(_name: string, value: unknown): unknown {
  return typeof value === "bigint" ? String(value) : value;
}

/** The calls go on, whatever becomes of them. */
function ask(count: number, path: string, sent: RequestInit): Promise<PromiseSettledResult<number>[]> {
  const call = async () => {
    const answer = await fetch(`${cloud.url}${path}`, sent);
    await answer.arrayBuffer();
    return answer.status;
  };
  return Promise.allSettled(Array.from({ length: count }, call));
}

async function isPending(asked: Promise<unknown>): Promise<boolean> {
  return (await Promise.race([asked, Promise.resolve("pending")])) === "pending";
}

test("50 connections of one key whose lists do not end keep no list from another tenant", async (t) => {
  const release = await hold(t, [orgId]);
  const headers = { authorization: `Bearer ${cloud.adminKey}` };
  const asked = ask(50, "/v1/events?limit=50", { headers });
  await eventually(
    async () => deps.turns.lists.countOf(orgId),
    (count) => count > 5,
  );
  await requireLists();
  assert.ok((await heldConnections()) <= turnLimits.lists.alone!);
  assert.ok(await isPending(asked), "the nuisance is still there");
  await release();
  assert.deepEqual(new Set((await asked).map(({ status }) => status)), new Set(["fulfilled"]));
});

test("200 heartbeats of one token whose statements do not end hold two connections and keep no list from another tenant", async (t) => {
  const release = await hold(t, [hashToken(agent.token)]);
  const stopping = new AbortController();
  const headers = { ...agentHeaders, "content-type": "application/json" };
  const sent = { method: "POST", body: '{"files":{},"problems":[]}', headers, signal: stopping.signal };
  const asked = ask(200, "/v1/edge/status", sent);
  await eventually(
    async () => deps.turns.agents.countOf(hashToken(agent.token)),
    (count) => count === 200,
  );
  await requireLists();
  assert.equal(await heldConnections(), 2);
  assert.ok(await isPending(asked), "the nuisance is still there");
  stopping.abort();
  await release();
  await asked;
});

test("of 500 long polls of one device four wait as sockets, and none holds a turn", async () => {
  const { etag } = await agent.call(api.edge.work, {});
  const stopping = new AbortController();
  const path = `/v1/edge/work?wait=55&etag=${etag}`;
  const asked = ask(500, path, { headers: agentHeaders, signal: stopping.signal });
  await requireLists();
  await eventually(
    async () => deps.turns.agents.countOf(hashToken(agent.token)),
    (count) => count === 0,
  );
  assert.ok(await isPending(asked), "the nuisance is still there");
  stopping.abort();
  await asked;
});

test("4 MiB of metadata whose last byte never arrives hold no large read and no connection", async () => {
  const metadata = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`${n}`, "x"]));
  const body = JSON.stringify({ deviceId: agent.deviceId, start: "2026-01-01", end: "2026-01-01", metadata });
  const head = `POST /v1/events HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
  const text = `${head}Authorization: Bearer ${cloud.adminKey}\r\n\r\n${body.slice(0, -1)}`;
  const sockets = await openSockets(20, text);
  await eventually(
    async () => deps.turns.calls.countOf(hashToken(cloud.adminKey)),
    (count) => count === 20,
  );
  await requireLists();
  assert.deepEqual([deps.turns.lists.countOf(orgId), pool.waitingCount], [0, 0]);
  for (const socket of sockets) socket.destroy();
});

test("200 GETs of one link that nobody reads only compute what fills their sockets, and take no time from others", async (t) => {
  const topics = [{ topic: "/camera", kind: "blob" as const, rateHz: 10, sizeBytes: 500_000 }];
  const large = await makeMcap({ durationSeconds: 8, topics, compression: "" });
  const { recordingId } = await uploadFile(cloud, large, { filename: "large.mcap", deviceName: "robot" });
  const { link } = await admin.call(api.exports.create, { recordingId: recordingId!, compressionFormat: "" });
  const steps = t.mock.method(deps.turns.exportSteps, "take");
  const { pathname, search } = new URL(link);
  const sockets = await openSockets(200, `GET ${pathname}${search} HTTP/1.1\r\nHost: x\r\n\r\n`);
  await eventually(
    async () => deps.turns.exports.countOf(orgId),
    (count) => count === 4,
  );
  for (let time = 0; time < 20; time++) await requireLists();
  // Each of the four that are sent fills its socket and waits; the whole export is a hundred times as much.
  const taken = steps.mock.callCount();
  assert.ok(taken < 2 * 10, `${taken} pieces were made`);
  for (const socket of sockets) socket.destroy();
});

/** Opens sockets that each send the text, and read nothing. */
function openSockets(count: number, text: string): Promise<Socket[]> {
  const { port, hostname } = new URL(cloud.url);
  const open = async () => {
    const socket = connect(Number(port), hostname).pause();
    socket.on("error", () => {});
    await once(socket, "connect");
    socket.write(text);
    return socket;
  };
  return Promise.all(Array.from({ length: count }, open));
}
