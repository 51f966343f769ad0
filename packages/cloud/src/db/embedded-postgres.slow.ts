import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, type TestContext, test } from "node:test";
import { eventually } from "@downlink/recordings/testing";
import pg from "pg";
import { startEmbeddedPostgres } from "./embedded-postgres.ts";

const isRoot = process.getuid?.() === 0;
const silent = { info: () => {}, warn: () => {} };
const MODULE = new URL("./embedded-postgres.ts", import.meta.url).href;
const NOBODY = 65534;
/** Settings for tests that are not about power cuts. */
const quick = { log: silent, settings: { fsync: "off" } };

/** A stopped cluster to copy from, because making one takes most of a test's time. */
const template = mkdtempSync(join(tmpdir(), "embedded-postgres-"));
before(async () => (await startEmbeddedPostgres({ dir: template, ...quick })).stop());
after(() => rmSync(template, { recursive: true }));

test("data survives a restart, is durable by default, and no port is opened", async (t) => {
  const dir = makeFolder(t);
  {
    await using server = await startEmbeddedPostgres({ dir, log: silent });
    await query(server.url, "CREATE TABLE kept (n int); INSERT INTO kept VALUES (7)");
    assert.equal(await readOne(server.url, "SELECT current_setting('fsync')"), "on");
    assert.equal(await readOne(server.url, "SELECT current_setting('listen_addresses')"), "");
  }
  await using again = await startEmbeddedPostgres({ dir, log: silent });
  assert.equal(await readOne(again.url, "SELECT n FROM kept"), 7);
});

test("only its owner may be able to enter the folder above the cluster", async (t) => {
  const closed = makeFolder(t);
  await using server = await startEmbeddedPostgres({ dir: join(closed, "postgres"), ...quick });
  assert.equal(await readOne(server.url, "SELECT 1"), 1);
});

test("letters outside of ASCII are folded to lower case", async (t) => {
  await using server = await startEmbeddedPostgres({ dir: makeFolder(t), ...quick });
  assert.equal(await readOne(server.url, "SELECT 'ÄRGER' ILIKE 'ärger'"), true);
});

test("after kill -9 of the process that started it, the next start finds all committed rows", async (t) => {
  const dir = copyCluster(makeFolder(t));
  const holder = await holdPostgres(t, { dir });
  await query(holder.url, "CREATE TABLE kept (n int); INSERT INTO kept VALUES (7)");
  holder.child.kill("SIGKILL");
  await once(holder.child, "exit");
  await using server = await startEmbeddedPostgres({ dir, ...quick });
  assert.equal(await readOne(server.url, "SELECT n FROM kept"), 7);
});

test("after kill -9 of the process that started it, the server ends and its temporary folder is removed", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "embedded-postgres-"));
  copyCluster(dir);
  const holder = await holdPostgres(t, { dir, isTemporary: true });
  const pid = readPostmasterPid(dir);
  holder.child.kill("SIGKILL");
  await eventually(
    () => existsSync(dir) || existsSync(`/proc/${pid}`),
    (isThere) => !isThere,
  );
});

test("a server that is killed comes back at the same address with all committed rows", async (t) => {
  const dir = copyCluster(makeFolder(t));
  await using server = await startEmbeddedPostgres({ dir, ...quick });
  await query(server.url, "CREATE TABLE kept (n int); INSERT INTO kept VALUES (7)");
  const killed = readPostmasterPid(dir);
  process.kill(killed, "SIGKILL");
  const rows = () => readOne(server.url, "SELECT n FROM kept").catch(() => undefined);
  await eventually(rows, (n) => n === 7 && readPostmasterPid(dir) !== killed);
});

test("a cluster that another process serves is refused and left running", async (t) => {
  const dir = copyCluster(makeFolder(t));
  const holder = await holdPostgres(t, { dir });
  await assert.rejects(startEmbeddedPostgres({ dir, ...quick }), /is in use: process \d+ serves it/);
  assert.equal(await readOne(holder.url, "SELECT 1"), 1);
});

test("a process that got the pid of a dead server is left alone", async (t) => {
  const dir = copyCluster(makeFolder(t));
  const stranger = spawn("sleep", ["600"]);
  t.after(() => stranger.kill());
  writeFileSync(join(dir, "data", "postmaster.pid"), `${stranger.pid}\n${join(dir, "data")}\n`);
  await using server = await startEmbeddedPostgres({ dir, ...quick });
  assert.equal(await readOne(server.url, "SELECT 1"), 1);
  assert.equal(stranger.exitCode ?? stranger.signalCode, null);
});

test("an initdb that was killed half-way is started again", async (t) => {
  const dir = makeFolder(t);
  const holder = spawnHolder({ dir });
  const hasBegun = () => existsSync(dir) && readdirSync(dir).some((name) => name.startsWith("initdb-"));
  await eventually(hasBegun, Boolean);
  holder.kill("SIGKILL");
  await once(holder, "exit");
  assert.ok(!existsSync(join(dir, "data")));
  await using server = await startEmbeddedPostgres({ dir, ...quick });
  assert.equal(await readOne(server.url, "SELECT 1"), 1);
  assert.deepEqual(
    readdirSync(dir).filter((name) => name.startsWith("initdb-")),
    [],
  );
});

test("a cluster of another major version is refused with both versions named", async (t) => {
  const dir = copyCluster(makeFolder(t));
  writeFileSync(join(dir, "data", "PG_VERSION"), "9\n");
  await assert.rejects(startEmbeddedPostgres({ dir, ...quick }), /was made by Postgres 9, and here is Postgres \d+/);
});

test("a path too long for a socket moves the socket elsewhere, where it is removed with the server", async (t) => {
  const dir = join(makeFolder(t), "long".repeat(30));
  const server = await startEmbeddedPostgres({ dir, ...quick });
  const socketDir = decodeURIComponent(new URL(server.url).searchParams.get("host") ?? "");
  assert.equal(await readOne(server.url, "SELECT 1"), 1);
  assert.ok(!socketDir.startsWith(dir) && existsSync(socketDir));
  await server.stop();
  assert.ok(!existsSync(socketDir));
});

test("a temporary server that does not start leaves nothing behind", async (t) => {
  const dir = makeFolder(t);
  const settings = { shared_buffers: "many" };
  await assert.rejects(startEmbeddedPostgres({ dir, settings, log: silent, isTemporary: true }), /did not start/);
  assert.ok(!existsSync(dir));
});

test("settings that Postgres refuses fail at once with its message", async (t) => {
  const settings = { shared_buffers: "many" };
  await assert.rejects(
    startEmbeddedPostgres({ dir: makeFolder(t), settings, log: silent }),
    /Postgres did not start:[\s\S]*shared_buffers/,
  );
});

test("an ordinary user needs only a folder", async (t) => {
  if (!isRoot) return t.skip("this is an ordinary user already: all tests here show it");
  const dir = makeFolder(t);
  for (const folder of [dirname(dir), dir]) chownSync(folder, NOBODY, NOBODY);
  const asNobody = ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"];
  const reachesNode = [...asNobody.slice(1), "/bin/sh", "-c", '"$0" --version', process.execPath];
  if (spawnSync("setpriv", reachesNode).status !== 0) return t.skip("the checkout is closed to other users");
  const holder = await holdPostgres(t, { dir }, asNobody);
  assert.equal(await readOne(holder.url, "SELECT 1"), 1);
  assert.match(
    readFileSync(`/proc/${readPostmasterPid(dir)}/status`, "utf8"),
    new RegExp(`^Uid:\\s+${NOBODY}\\s`, "m"),
  );
});

interface HolderOptions {
  readonly dir: string;
  readonly isTemporary?: boolean;
}

/** Starts the server in another process, which keeps it. */
async function holdPostgres(
  t: TestContext,
  options: HolderOptions,
  prefix: string[] = [],
): Promise<{ child: ChildProcess; url: string }> {
  const child = spawnHolder(options, prefix);
  t.after(() => child.kill("SIGKILL"));
  const died = once(child, "exit").then(([code]) => assert.fail(`the other process ended with ${code}`));
  const [url] = await Promise.race([once(child.stdout!, "data"), died]);
  died.catch(() => {}); // from here on the test expects its end
  return { child, url: String(url).trim() };
}

function spawnHolder(options: HolderOptions, prefix: string[] = []): ChildProcess {
  const program = `
    const { startEmbeddedPostgres } = await import(${JSON.stringify(MODULE)});
    const log = { info() {}, warn() {} };
    console.log((await startEmbeddedPostgres({ ...${JSON.stringify(options)}, settings: { fsync: "off" }, log })).url);
    setInterval(() => {}, 60_000);`;
  const args = ["--disable-warning=ExperimentalWarning", "--input-type=module", "-e", program];
  const [command = process.execPath, ...rest] = prefix;
  const allArgs = prefix.length > 0 ? [...rest, process.execPath, ...args] : args;
  return spawn(command, allArgs, { stdio: ["ignore", "pipe", "inherit"] });
}

/** Makes a folder with mode 0700, which is removed with everything that a killed server left in it. */
function makeFolder(t: TestContext): string {
  const parent = mkdtempSync(join(tmpdir(), "embedded-postgres-"));
  t.after(() => rmSync(parent, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }));
  const dir = join(parent, "postgres");
  mkdirSync(dir, { mode: 0o700 });
  return dir;
}

function copyCluster(dir: string): string {
  execFileSync("cp", ["-a", join(template, "data"), dir]);
  return dir;
}

function readPostmasterPid(dir: string): number {
  return Number.parseInt(readFileSync(join(dir, "data", "postmaster.pid"), "utf8"), 10);
}

async function query(url: string, sql: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await client.query(sql);
  } finally {
    await client.end();
  }
}

async function readOne(url: string, sql: string): Promise<unknown> {
  return Object.values((await query(url, sql)).rows[0])[0];
}
