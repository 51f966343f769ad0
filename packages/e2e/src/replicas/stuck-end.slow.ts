import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { createTestDatabase, storeSettings } from "@downlink/cloud/testing";
import { startProgram } from "../processes/program.ts";
import { whyNotInCi } from "./why-not-in-ci.ts";

test("a worker whose Postgres went silent ends all the same once it is stopped, and says what did not close", {
  skip: whyNotInCi(),
}, async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), "downlink-stuck-"));
  t.after(() => rm(dataDir, { recursive: true, force: true }));
  const postgres = await startLink(t, await createTestDatabase(t));
  const settings = { DATABASE_URL: postgres.url, DOWNLINK_WORK_PORT: "0", DOWNLINK_GRACE: "0s" };
  const env = { DOWNLINK_DATA_DIR: dataDir, ...storeSettings(dataDir), ...settings };
  await using worker = startProgram({ script: "cloud/src/main.ts", args: ["work"], env });
  await worker.line(/^Downlink works/);
  postgres.goSilent();
  assert.equal(await worker.end("SIGTERM"), 3, worker.output());
  assert.match(worker.output(), /"step":"(?!what was never closed)[^"]+".*one step does not end/);
});

test("a worker whose Postgres went silent while it started ends all the same once it is stopped", {
  skip: whyNotInCi(),
}, async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), "downlink-stuck-"));
  t.after(() => rm(dataDir, { recursive: true, force: true }));
  const postgres = await startLink(t, await createTestDatabase(t));
  const silence = Promise.withResolvers<void>();
  postgres.atStatement("pgboss.queue", () => {
    postgres.goSilent();
    silence.resolve();
  });
  const settings = { DATABASE_URL: postgres.url, DOWNLINK_WORK_PORT: "0", DOWNLINK_GRACE: "0s" };
  const env = { DOWNLINK_DATA_DIR: dataDir, ...storeSettings(dataDir), ...settings };
  await using worker = startProgram({ script: "cloud/src/main.ts", args: ["work"], env });
  await Promise.race([silence.promise, worker.ended]);
  assert.equal(await worker.end("SIGTERM"), 3, worker.output());
  assert.match(worker.output(), /one step does not end/);
});

test("a worker whose database goes away while its queue begins ends, so that its supervisor starts it again", async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), "downlink-stuck-"));
  t.after(() => rm(dataDir, { recursive: true, force: true }));
  const postgres = await startLink(t, await createTestDatabase(t));
  postgres.atStatement("pgboss.queue", postgres.close);
  const env = { DATABASE_URL: postgres.url, DOWNLINK_DATA_DIR: dataDir, ...storeSettings(dataDir) };
  await using worker = startProgram({ script: "cloud/src/main.ts", args: ["work"], env });
  assert.equal(await worker.ended, 1);
  assert.match(worker.output(), /^downlink: the database of DATABASE_URL does not answer/m);
});

/**
 * A link to a database that can go silent, as that of a machine that lost its power does: nothing is passed on, and nothing is closed. Or it
 * breaks for good. Either can happen as soon as a statement names something.
 */
async function startLink(t: TestContext, databaseUrl: string) {
  const database = new URL(databaseUrl);
  const socketPath = join(database.searchParams.get("host")!, `.s.PGSQL.${database.port}`);
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(socketPath);
    near.pipe(far).pipe(near);
    for (const socket of [near, far]) sockets.add(socket.on("error", () => {}));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  t.after(close);
  database.searchParams.delete("host");
  database.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: database.href,
    close,
    atStatement: (name: string, act: () => void) => {
      server.on("connection", (near) => near.on("data", (bytes) => bytes.includes(name) && act()));
    },
    goSilent: () => {
      server.removeAllListeners("connection").on("connection", (near) => sockets.add(near.pause()));
      for (const socket of sockets) socket.unpipe().pause(); // what comes, also an end, is not read
    },
  };
}
