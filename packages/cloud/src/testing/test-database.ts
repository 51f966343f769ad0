import { randomUUID } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { pino } from "pino";
import { PgBossQueue } from "../background/jobs/pg-boss-queue.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../db/embedded-postgres.ts";
import { applyMigrations, migrationsDir } from "../db/migrations.ts";
import { sqlState } from "../db/sql-state.ts";
import { createMetrics } from "../process/metrics/metrics.ts";
import { hasRoom, IN_MEMORY } from "./memory-room.ts";

/** The variable that names the test run's server to the processes that it starts. */
export const TEST_POSTGRES_VARIABLE = "DOWNLINK_TEST_POSTGRES";

const TEMPLATE = "downlink_template";
const NEEDED_BYTES = 2 * 1024 ** 3;
/** A server that does not answer fails a test instead of holding it up for ever. */
const LIMIT_MS = 120_000;
const OBJECT_IN_USE = "55006";
/** A power cut would only lose a test. */
const VOLATILE = { fsync: "off", full_page_writes: "off", synchronous_commit: "off", max_connections: "900" };

/** A test, or anything else that ends and reports its end. */
interface Ending {
  after(close: () => Promise<void>): void;
}

/** This process has a server of its own if no run gave it one, and databases whose tests have ended. */
const own: { server?: Promise<EmbeddedPostgres>; readonly ended: string[] } = { ended: [] };

/** Creates a database with all migrations, and returns its URL for node-postgres. It is dropped after its test has ended. */
export function createTestDatabase(t: Ending): Promise<string> {
  return createDatabase(t, TEMPLATE);
}

/** Creates a database without any table. */
export function createEmptyDatabase(t: Ending): Promise<string> {
  return createDatabase(t, "template0");
}

/** Starts a server for tests, in memory if there is room, with a migrated template; it leaves nothing behind, even when killed. */
export function startTestPostgres(): Promise<EmbeddedPostgres> {
  return startWithTemplate(hasRoom(NEEDED_BYTES) ? IN_MEMORY : tmpdir(), VOLATILE);
}

/** Does what {@link startTestPostgres} does, but on the disk and as durable as in production, to measure what that costs. */
export function startDurablePostgres(): Promise<EmbeddedPostgres> {
  return startWithTemplate(tmpdir(), {});
}

async function startWithTemplate(
  parent: string,
  settings: Readonly<Record<string, string>>,
): Promise<EmbeddedPostgres> {
  const dir = mkdtempSync(join(parent, "downlink-test-"));
  const log = { info: () => {}, warn: (line: string) => console.error(line) };
  const server = await startEmbeddedPostgres({ dir, settings, log, isTemporary: true });
  await run(server.url, `CREATE DATABASE ${TEMPLATE}`);
  const url = urlOf(server.url, TEMPLATE);
  await applyMigrations({ url, dir: migrationsDir, log });
  await makeJobTables(url);
  await run(server.url, `ALTER DATABASE ${TEMPLATE} WITH IS_TEMPLATE true ALLOW_CONNECTIONS false`);
  return server;
}

/** A control plane makes them at its first start, which takes as long as all else of a start. */
async function makeJobTables(url: string): Promise<void> {
  const log = pino({ level: "silent" });
  await using _jobs = await PgBossQueue.start({ url, log, metrics: createMetrics() });
}

async function createDatabase(t: Ending, template: string): Promise<string> {
  const url = process.env[TEST_POSTGRES_VARIABLE] ?? (await ownServer()).url;
  await dropEnded(url);
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  await run(url, `CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`);
  t.after(async () => void own.ended.push(name));
  return urlOf(url, name);
}

/** A process without a test run (`node --test file`) has its own server, which ends with it. */
function ownServer(): Promise<EmbeddedPostgres> {
  own.server ??= startTestPostgres();
  return own.server;
}

/** The database is not dropped at the end of the test itself, because what the test opened on it closes after that. */
async function dropEnded(url: string): Promise<void> {
  for (const name of own.ended.splice(0)) {
    try {
      await run(url, `DROP DATABASE ${name}`);
    } catch (error) {
      if (sqlState(error) !== OBJECT_IN_USE) throw error;
      own.ended.push(name);
    }
  }
}

/** The types of pg lack these two. */
type KeptClient = pg.Client & Record<"ref" | "unref", () => void>;

/** A connection that is kept between statements: a new one costs the server as much as a small statement. */
interface Kept {
  readonly client: Promise<KeptClient>;
  running: number;
}

const kept = new Map<string, Kept>();

/** Runs a statement by the process's connection to the server, which does not keep the process alive while it is idle. */
async function run(url: string, sql: string): Promise<void> {
  const connection = kept.get(url) ?? { client: connect(url), running: 0 };
  kept.set(url, connection);
  connection.client.catch(() => kept.delete(url));
  const client = await connection.client;
  if (connection.running++ === 0) client.ref();
  try {
    await client.query(sql);
  } finally {
    if (--connection.running === 0) client.unref();
  }
}

async function connect(url: string): Promise<KeptClient> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: LIMIT_MS, query_timeout: LIMIT_MS });
  client.on("error", () => kept.delete(url)); // the server has ended
  await client.connect();
  return client as KeptClient;
}

function urlOf(server: string, database: string): string {
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
}
