import { randomUUID } from "node:crypto";
import { mkdtempSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../db/embedded-postgres.ts";
import { applyMigrations, migrationsDir } from "../db/migrations.ts";
import { sqlState } from "../db/sql-state.ts";

/** The variable that names the test run's server to the processes that it starts. */
export const TEST_POSTGRES_VARIABLE = "DOWNLINK_TEST_POSTGRES";

const TEMPLATE = "downlink_template";
const IN_MEMORY = "/dev/shm";
const NEEDED_BYTES = 2 * 1024 ** 3;
const OBJECT_IN_USE = "55006";
/** What is lost in a power cut is only the test. */
const VOLATILE = { fsync: "off", full_page_writes: "off", synchronous_commit: "off", max_connections: "300" };

/** A test, or whatever else ends and tells so. */
interface Ending {
  after(close: () => Promise<void>): void;
}

/** This process has a server of its own where no run gave it one, and databases whose tests have ended. */
const own: { server?: Promise<EmbeddedPostgres>; readonly ended: string[] } = { ended: [] };

/** A new database with all migrations, as a URL for node-postgres. It goes when its test has ended. */
export function createTestDatabase(t: Ending): Promise<string> {
  return createDatabase(t, TEMPLATE);
}

/** A new database without any table. */
export function createEmptyDatabase(t: Ending): Promise<string> {
  return createDatabase(t, "template0");
}

/** A server for tests, in memory where there is room, with a migrated template; it leaves nothing behind, even when killed. */
export function startTestPostgres(): Promise<EmbeddedPostgres> {
  return startWithTemplate(hasRoom() ? IN_MEMORY : tmpdir(), VOLATILE);
}

/**
 * Does what {@link startTestPostgres} does, but on the disk and as durable as in production, to measure what that
 * costs.
 */
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
  await applyMigrations({ url: urlOf(server.url, TEMPLATE), dir: migrationsDir, log });
  await run(server.url, `ALTER DATABASE ${TEMPLATE} WITH IS_TEMPLATE true ALLOW_CONNECTIONS false`);
  return server;
}

async function createDatabase(t: Ending, template: string): Promise<string> {
  const url = process.env[TEST_POSTGRES_VARIABLE] ?? (await ownServer()).url;
  await dropEnded(url);
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  await run(url, `CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`);
  t.after(async () => void own.ended.push(name));
  return urlOf(url, name);
}

/** A process without a run around it (`node --test file`) has its own server, which ends with it. */
function ownServer(): Promise<EmbeddedPostgres> {
  own.server ??= startTestPostgres();
  return own.server;
}

/** This does not happen in the test's own ending: what the test opened on the database closes after that. */
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

async function run(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

function urlOf(server: string, database: string): string {
  const url = new URL(server);
  url.pathname = `/${database}`;
  return url.href;
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    return bavail * bsize >= NEEDED_BYTES;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}
