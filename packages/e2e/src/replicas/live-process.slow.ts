import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { startNginx, whyNoNginx } from "./nginx.ts";

const skip = whyNoNginx();
const PROCESSES = 3;
const CALLS = 12;

test("where each process has just broken a connection, all of them are asked instead of none", { skip }, async (t) => {
  const { post } = await openBed(t);
  assert.deepEqual(await breakEach(post), [502, 502, 502], "each process got one of them");
  for (let call = 0; call < CALLS; call++) assert.equal(await post("/"), 200);
});

test("where only one process lives, and has just broken a connection, it is asked", { skip }, async (t) => {
  const { post, servers } = await openBed(t);
  assert.deepEqual(await breakEach(post), [502, 502, 502]);
  for (const dead of servers.slice(1)) {
    dead.close();
    dead.closeAllConnections();
  }
  for (let call = 0; call < CALLS; call++) assert.equal(await post("/"), 200);
});

/** Starts nginx with the operators' settings before processes that break the connection of a call to `/break`, and answer any other. */
async function openBed(t: TestContext) {
  const host = `127.${randomInt(1, 255)}.${randomInt(256)}.${randomInt(1, 255)}`;
  const servers = await Promise.all(Array.from({ length: PROCESSES }, () => listen(t, host)));
  const upstreams = servers.map((server) => `${host}:${(server.address() as { port: number }).port}`);
  const folder = await mkdtemp(join(tmpdir(), "downlink-nginx-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const nginx = await startNginx({ folder, address: `${host}:8080`, upstreams });
  t.after(() => nginx[Symbol.asyncDispose]());
  /** nginx repeats no POST that a process may have seen. */
  const post = async (path: string) => (await fetch(`${nginx.url}${path}`, { method: "POST" })).status;
  return { post, servers };
}

async function listen(t: TestContext, host: string): Promise<Server> {
  const server = createServer(
    ({ url, socket }, response) => void (url === "/break" ? socket.destroy() : response.end()),
  );
  server.listen(0, host);
  await once(server, "listening");
  t.after(() => void server.close());
  return server;
}

/** A process that broke a connection is left alone for a while, so that the next call breaks that of another one. */
async function breakEach(post: (path: string) => Promise<number>): Promise<number[]> {
  const statuses: number[] = [];
  for (let call = 0; call < PROCESSES; call++) statuses.push(await post("/break"));
  return statuses;
}
