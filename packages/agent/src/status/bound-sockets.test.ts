import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { eventually } from "@downlink/recordings/testing";
import { askControl, serveControl } from "../control/control-socket.ts";
import { serveMetrics } from "../metrics/serve-metrics.ts";
import { healthyStatus } from "../testing/sample-status.ts";
import { boundSockets, shareNext } from "./bound-sockets.ts";
import { askStatus, serveStatus } from "./socket.ts";

const MANY = 100;
const MOST = 32;
const MEBIBYTE = 1024 * 1024;

function makeDirectory(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), "downlink-sockets-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Opens connections that read nothing, and notes which of them the agent has ended. */
async function openMany(t: TestContext, path: string, count = MANY) {
  const ended = new Set<Socket>();
  const sockets = Array.from({ length: count }, () => {
    const socket = connect(path).pause();
    return socket.on("error", () => {}).on("close", () => ended.add(socket));
  });
  t.after(() => {
    for (const socket of sockets) socket.destroy();
  });
  await Promise.all(sockets.map((socket) => once(socket, "connect").catch(() => undefined)));
  return { sockets, ended };
}

test("a user who opens many connections for the status holds few, and locks nobody out", async (t) => {
  const stateDir = makeDirectory(t);
  await using _server = await serveStatus(stateDir, async () => healthyStatus);
  const { sockets, ended } = await openMany(t, join(stateDir, "agent.sock"));
  for (const socket of sockets) socket.write("x".repeat(MEBIBYTE / 4)); // The server expects no input.
  assert.deepEqual(await askStatus(stateDir), healthyStatus);
  for (const socket of sockets) socket.resume();
  await eventually(
    () => ended.size,
    (count) => count >= MANY - MOST,
  );
});

test("a user who begins many requests for actions holds few, and little memory, and locks nobody out", async (t) => {
  const stateDir = makeDirectory(t);
  await using _server = await serveControl(stateDir, async (request) => request);
  const { sockets, ended } = await openMany(t, join(stateDir, "control.sock"));
  for (const socket of sockets) socket.resume().write(`"${"x".repeat(MEBIBYTE)}`); // Together, 32 of them are above the budget.
  await eventually(
    () => ended.size,
    (count) => count >= MANY - MOST,
  );
  assert.equal(await askControl(stateDir, { action: "resume" }).then(JSON.stringify), '{"action":"resume"}');
});

test("a request for an action that does not end is ended", async (t) => {
  const stateDir = makeDirectory(t);
  await using _server = await serveControl(stateDir, async (request) => request);
  const { sockets, ended } = await openMany(t, join(stateDir, "control.sock"), 1);
  const [socket] = sockets as [Socket];
  socket.resume();
  const piece = Buffer.alloc(MEBIBYTE, "x");
  const closed = new Promise((resolve) => socket.once("close", resolve));
  while (ended.size === 0) {
    if (!socket.write(piece)) await Promise.race([once(socket, "drain").catch(() => undefined), closed]);
    assert.ok(socket.bytesWritten < 12 * MEBIBYTE);
  }
  assert.deepEqual(await askControl(stateDir, [1]), [1]);
});

test("a connection is ended when its time is over, whichever side is silent", async (t) => {
  const path = join(makeDirectory(t), "a.sock");
  const server = createServer(() => {}).listen(path);
  t.after(() => server.close());
  boundSockets(server, { most: 10, lifeMs: 20 });
  await openMany(t, path, 5);
  const connections = () => new Promise<number>((resolve) => server.getConnections((_error, count) => resolve(count)));
  await eventually(connections, (count) => count === 0);
});

test("a request that is no URL is 404 for the metrics, and no end of the agent", async (t) => {
  const path = join(makeDirectory(t), "m.sock");
  const problems = { raise: assert.fail } as never;
  const log = { info: () => {} } as never;
  const takeStatus = async () => healthyStatus;
  await using _metrics = await serveMetrics({ address: { path } as never, takeStatus, problems, log });
  const socket = connect(path);
  socket.write("GET // HTTP/1.1\r\nHost: x\r\n\r\n");
  const [bytes] = (await once(socket, "data")) as [Buffer];
  assert.match(bytes.toString(), /^HTTP\/1\.1 404 /);
  await once(socket, "close");
});

test("a status that many ask for at once is made once, and once more for those who ask meanwhile", async () => {
  const turns: PromiseWithResolvers<number>[] = [];
  const take = shareNext(() => {
    turns.push(Promise.withResolvers());
    return turns.at(-1)!.promise;
  });
  const [first, second, third] = [take(), take(), take()];
  turns[0]!.reject(new Error("EIO"));
  await assert.rejects(first, /EIO/);
  assert.equal(turns.length, 2);
  turns[1]!.resolve(2);
  assert.deepEqual(await Promise.all([second, third]), [2, 2]);
  const later = take();
  turns[2]!.resolve(3);
  assert.equal(await later, 3);
});
