import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { chmod, chown, mkdtemp, readdir } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { api } from "@downlink/protocol";
import { eventually, makeMcap } from "@downlink/recordings/testing";
import pg from "pg";
import { startCloud, type TestCloud } from "../testing/start-cloud.ts";
import { uploadFile } from "../testing/upload-file.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "./embedded-postgres.ts";

// biome-ignore lint/style/noProcessEnv: a failure that is no 503 prints its cause, unless the developer sets another log level.
process.env.DOWNLINK_LOG_LEVEL ??= "error";

const log = { info() {}, warn() {} };
const settings = { max_connections: "60" };

/** A name that leads to one server after another, as that of a managed database does. */
async function startFront(t: TestContext) {
  let target: string | undefined;
  let passing = Number.POSITIVE_INFINITY;
  let swallowed = 0;
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    if (target === undefined) return void near.destroy();
    passing -= 1;
    if (passing < 0) {
      swallowed += 1;
      return void sockets.add(near.on("error", () => {}));
    }
    const far = connect(target);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.pipe(to);
      from.on("error", () => {}).on("close", () => void to.destroy());
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = () => sockets.forEach((socket) => void socket.destroy());
  t.after(() => {
    server.close();
    cut();
  });
  const { port } = server.address() as { port: number };
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    cut,
    /** From now on only so many connections go through; the others carry nothing, as if their packets were dropped. */
    pass(connections: number) {
      passing = connections;
    },
    swallowed: () => swallowed,
    leadTo(url: string | undefined) {
      target = url === undefined ? undefined : join(socketDirOf(url), ".s.PGSQL.5432");
    },
  };
}

function socketDirOf(url: string): string {
  return new pg.Client({ connectionString: url }).host;
}

async function ask(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

/** Starts a server, and another one that has each commit before its client hears of it. */
async function startPair(t: TestContext) {
  const parent = await mkdtemp(join(tmpdir(), "failover-"));
  t.after(() => rmSync(parent, { recursive: true, force: true }));
  const [dir, copy] = [join(parent, "primary"), join(parent, "standby")];
  await (await startEmbeddedPostgres({ dir, settings, log })).stop();
  cpSync(dir, copy, { recursive: true, preserveTimestamps: true });
  await giveTree(copy, statSync(join(dir, "data")));
  const primary = await startEmbeddedPostgres({ dir, settings, log, isTemporary: true });
  const source = `host=${socketDirOf(primary.url)} user=postgres`;
  const standby = await startEmbeddedPostgres({ dir: copy, settings: { ...settings, primary_conninfo: source }, log });
  t.after(() => Promise.all([primary.stop(), standby.stop()]));
  await eventually(
    () => ask(primary.url, "SELECT 1 FROM pg_stat_replication WHERE state = 'streaming'"),
    ({ length }) => length === 1,
  );
  await ask(primary.url, "ALTER SYSTEM SET synchronous_standby_names = '*'");
  await ask(primary.url, "SELECT pg_reload_conf()");
  const kill = () =>
    process.kill(Number(readFileSync(join(dir, "data/postmaster.pid"), "utf8").split("\n")[0]), "SIGKILL");
  return { primary, standby, kill } satisfies { primary: EmbeddedPostgres; standby: EmbeddedPostgres; kill(): void };
}

/** A copy belongs to the user who made it, and the server runs as another user. */
async function giveTree(dir: string, { uid, gid }: { uid: number; gid: number }): Promise<void> {
  writeFileSync(join(dir, "data/standby.signal"), "");
  for (const path of [".", ...(await readdir(dir, { recursive: true }))]) {
    await chown(join(dir, path), uid, gid);
    if (statSync(join(dir, path)).isDirectory()) await chmod(join(dir, path), 0o700);
  }
}

const post = async ({ url, adminKey }: TestCloud, name: string) => {
  const headers = { authorization: `Bearer ${adminKey}`, "content-type": "application/json" };
  const response = await fetch(`${url}/v1/devices`, { method: "POST", headers, body: JSON.stringify({ name }) });
  return { status: response.status, retryAfter: response.headers.get("retry-after"), body: await response.text() };
};

/** Calls until it is told to stop. Each call succeeds or says when to come back. */
function keepCalling(cloud: TestCloud) {
  const [done, refused] = [[] as string[], [] as string[]];
  let isOver = false;
  const callers = Array.from({ length: 6 }, async (_, caller) => {
    for (let index = 0; !isOver; index++) {
      const name = `device-${caller}-${index}`;
      const { status, retryAfter, body } = await post(cloud, name);
      (status === 200 ? done : refused).push(name);
      if (status !== 200) assert.deepEqual([status, retryAfter !== null], [503, true], body);
    }
  });
  const more = async (of: readonly string[], count: number) => {
    const before = of.length;
    await eventually(
      async () => of.length,
      (now) => now > before + count,
    );
  };
  const stop = () => {
    isOver = true;
    return Promise.all(callers);
  };
  return { done, refused, more, stop };
}

test("when a standby is promoted, calls before are 503, nothing acknowledged is lost, and all goes on within seconds", async (t) => {
  const { primary, standby, kill } = await startPair(t);
  const front = await startFront(t);
  front.leadTo(primary.url);
  const cloud = await startCloud(t, { environment: { DATABASE_URL: front.url } });
  const { done, refused, more, stop } = keepCalling(cloud);
  await more(done, 50);

  kill();
  front.leadTo(standby.url);
  front.cut();
  await more(refused, 6);
  assert.match(await (await fetch(`${cloud.url}/metrics`)).text(), /^downlink_database_up 0$/m);
  await ask(standby.url, "SELECT pg_promote()");
  const promotedMs = performance.now();
  await more(done, 50);
  t.diagnostic(
    `${refused.length} calls were 503; ${Math.round(performance.now() - promotedMs)} ms after the promotion 50 had gone on`,
  );
  await stop();
  const there = new Set((await cloud.deps.db.prisma.device.findMany()).map(({ name }) => name));
  assert.deepEqual(
    done.filter((name) => !there.has(name)),
    [],
  );
  const { recordingId } = await uploadFile(cloud, await makeMcap(), { filename: "a.mcap", deviceName: "device-0-0" });
  const { importStatus } = await cloud.admin.call(api.recordings.get, { keyOrId: recordingId! });
  assert.equal(importStatus, "complete", "jobs go on, too");
});

test("a service that starts before its database waits for it, and a command says at once that it does not answer", async (t) => {
  const { startProgram, env } = await programs(t);
  const service = startProgram("all");
  await service.printed(/waiting for the database of DATABASE_URL/);
  const command = startProgram("admin", "status");
  assert.equal(await command.ended, 1);
  assert.match(command.output(), /downlink: the database of DATABASE_URL does not answer/);
  env.front.leadTo(env.url);
  await service.printed(/Downlink serves at/);
  service.kill();
  assert.equal(await service.ended, 0, service.output());
});

for (const passing of [0, 1, 2, 4])
  test(`a service waits where ${passing} connections to its database work and the next ones hang, and starts once all work`, async (t) => {
    const { startProgram, env } = await programs(t);
    env.front.leadTo(env.url);
    env.front.pass(passing);
    const services = [startProgram("work"), startProgram("serve")];
    for (const service of services) await service.printed(/waiting for the database of DATABASE_URL/);
    env.front.pass(Number.POSITIVE_INFINITY);
    for (const service of services) {
      await service.printed(/Downlink (works|serves)/);
      service.kill();
      assert.equal(await service.ended, 0, service.output());
    }
  });

test("a service that waits for its database ends when it is told to", async (t) => {
  const { startProgram } = await programs(t);
  const service = startProgram("serve");
  await service.printed(/waiting for the database of DATABASE_URL/);
  service.kill();
  assert.equal(await service.ended, 1, service.output());
});

async function programs(t: TestContext) {
  const dir = await mkdtemp(join(tmpdir(), "waits-"));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const server = await startEmbeddedPostgres({ dir: join(dir, "postgres"), settings, log });
  t.after(() => server.stop());
  const front = await startFront(t);
  const main = join(import.meta.dirname, "../main.ts");
  const variables = { DATABASE_URL: front.url, DOWNLINK_PORT: "0", DOWNLINK_DATA_DIR: dir, DOWNLINK_LOG_LEVEL: "info" };
  const startProgram = (...words: string[]) => {
    const child = spawn(process.execPath, [main, ...words], { env: { ...variables, DOWNLINK_WORK_PORT: "0" } });
    t.after(() => child.kill("SIGKILL"));
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (text: Buffer) => (output += text));
    const ended = once(child, "exit").then(([code]) => code as number);
    const printed = (text: RegExp) =>
      eventually(
        async () => output,
        (now) => text.test(now),
      );
    return { ended, printed, output: () => output, kill: () => child.kill("SIGTERM") };
  };
  return { startProgram, env: { front, url: server.url } };
}
