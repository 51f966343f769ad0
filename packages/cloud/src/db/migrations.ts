import { createHash, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { sqlState } from "./sql-state.ts";

const packagedDir = fileURLToPath(new URL("../../migrations", import.meta.url));

/** Prisma's own folder in a checkout; in a package it is a copy beside the code. */
export const migrationsDir = existsSync(packagedDir)
  ? packagedDir
  : fileURLToPath(new URL("../../../../prisma/migrations", import.meta.url));

export interface MigrationLog {
  info(message: string): void;
  warn(message: string): void;
}

interface Source {
  readonly url: string;
  /** The folder has Prisma's layout: one folder for each migration, named so that they sort in order, with `migration.sql` in it. */
  readonly dir: string;
}

interface Migration {
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
}

/** A deadlock, and a lock that was not to be had in time. */
const HINDERED = new Set(["40P01", "55P03"]);
/** This is well below the second after which Postgres ends a call that is in a deadlock: so it is the migration that gives way. */
const LOCK_MS = 200;
const PAUSE_MS = 300;
/** A network that drops packets answers nothing, for ever. */
const CONNECT_TIMEOUT_MS = 10_000;
/** For a minute the migration gives way; then it waits in line, and what comes later waits behind it. */
const SHORT_MS = 60_000;
const MOST_IN_LINE = 10;
/** A migration with such a name takes something away that earlier versions need, so that these refuse to start. Others only add. */
const CONTRACTING = /_contract(_|$)/;
/** Prisma uses this lock too, so that its command line and this code never migrate at the same time. */
const MIGRATION_LOCK = 72707369;

/** This is Prisma's own table: its command line can take over at any time. */
const CREATE_TABLE = `CREATE TABLE IF NOT EXISTS _prisma_migrations (
  id VARCHAR(36) PRIMARY KEY NOT NULL, checksum VARCHAR(64) NOT NULL, finished_at TIMESTAMPTZ,
  migration_name VARCHAR(255) NOT NULL, logs TEXT, rolled_back_at TIMESTAMPTZ,
  started_at TIMESTAMPTZ NOT NULL DEFAULT now(), applied_steps_count INTEGER NOT NULL DEFAULT 0)`;

/**
 * Brings the database up to date and returns the names of the migrations that it applied. Each migration and its row commit together, so
 * that a process killed in between leaves nothing to repair; of several processes that start at once, one migrates and the others wait.
 * Throws a {@link MigrationError} if an applied migration was edited, or if one fails.
 */
export async function applyMigrations({ url, dir, log }: Source & { readonly log: MigrationLog }): Promise<string[]> {
  const migrations = await readMigrations(dir);
  return withClient(url, async (client) => {
    await lock(client, log);
    await client.query(CREATE_TABLE);
    const pending = await comparePending(client, migrations, log);
    const [first] = pending;
    if (first) log.info(`applying ${pending.length} migrations, from ${first.name} to ${pending.at(-1)!.name}`);
    for (const migration of pending) await applyBesideOthers(client, migration, log);
    return pending.map(({ name }) => name);
  });
}

/** Returns the names of the migrations that the database has not had yet, in order. It changes nothing and waits for no other process. */
export async function pendingMigrations({ url, dir }: Source): Promise<string[]> {
  const migrations = await readMigrations(dir);
  return withClient(url, async (client) => {
    const { rows } = await client.query("SELECT to_regclass('_prisma_migrations') IS NOT NULL AS exists");
    const pending = rows[0].exists ? await comparePending(client, migrations) : migrations;
    return pending.map(({ name }) => name);
  });
}

/** Returns the names of all migrations of this version, in order. */
export async function listMigrations(dir: string): Promise<string[]> {
  const entries = await readdir(dir, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
}

/** Returns those of the names that the database has not had, or has lost by a restore. */
export async function missingMigrations(pool: pg.Pool, names: readonly string[]): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    "SELECT migration_name AS name FROM _prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL",
  );
  const applied = new Set(rows.map(({ name }) => name));
  return names.filter((name) => !applied.has(name));
}

export class MigrationError extends Error {
  override readonly name = "MigrationError";
}

async function readMigrations(dir: string): Promise<Migration[]> {
  const names = await listMigrations(dir);
  return Promise.all(names.map((name) => readMigration(dir, name)));
}

async function readMigration(dir: string, name: string): Promise<Migration> {
  const sql = await readFile(join(dir, name, "migration.sql"), "utf8");
  return { name, sql, checksum: createHash("sha256").update(sql).digest("hex") };
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({
    connectionString: url,
    application_name: "downlink-migrations",
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  client.on("error", () => {}); // a lost connection fails the query that needs it
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** The lock is held until the connection ends, in whatever way. */
async function lock(client: pg.Client, log: MigrationLog): Promise<void> {
  const { rows } = await client.query("SELECT pg_try_advisory_lock($1) AS taken", [MIGRATION_LOCK]);
  if (rows[0].taken) return;
  log.info("waiting for another process that is migrating the database");
  await client.query("SELECT pg_advisory_lock($1)", [MIGRATION_LOCK]);
}

async function comparePending(client: pg.Client, migrations: Migration[], log?: MigrationLog): Promise<Migration[]> {
  const { rows } = await client.query(
    "SELECT migration_name AS name, checksum, finished_at FROM _prisma_migrations WHERE rolled_back_at IS NULL",
  );
  const failed = rows.find((row) => row.finished_at === null);
  if (failed) {
    throw new MigrationError(
      `migration ${failed.name} was begun by another tool and did not end: repair the database, then mark it with "prisma migrate resolve"`,
    );
  }
  const checksums = new Map<string, string>(rows.map((row) => [row.name, row.checksum]));
  const edited = migrations.find(({ name, checksum }) => (checksums.get(name) ?? checksum) !== checksum);
  if (edited)
    throw new MigrationError(
      `migration ${edited.name} was edited after it was applied: restore its text and write a new one`,
    );
  lookAtUnknown(migrations, checksums, log);
  return migrations.filter(({ name }) => !checksums.has(name));
}

/**
 * A newer version has migrated this database: that is normal while replicas are replaced one by one, and after a downgrade. Throws if it
 * took away what this version needs.
 */
function lookAtUnknown(migrations: Migration[], checksums: ReadonlyMap<string, string>, log?: MigrationLog): void {
  const known = new Set(migrations.map(({ name }) => name));
  const unknown = [...checksums.keys()].filter((name) => !known.has(name));
  const contracting = unknown.find((name) => CONTRACTING.test(name));
  if (contracting !== undefined)
    throw new MigrationError(
      `a newer version has migrated the database and has taken away what this version needs (${contracting}): start that version, or restore the backup from before its upgrade`,
    );
  if (unknown.length > 0)
    log?.warn(`the database has migrations that this version does not know: ${unknown.join(", ")}`);
}

/**
 * Processes of a former version still serve: a call may hold tables in another order, or for long. Then nothing was changed, and it is tried
 * again. It never waits long for a table while it holds others, or calls would wait for it, and Postgres would end one of them.
 */
async function applyBesideOthers(client: pg.Client, migration: Migration, log: MigrationLog): Promise<void> {
  const inLineFromMs = performance.now() + SHORT_MS;
  for (let attempt = 1, inLine = 0; ; attempt += 1) {
    const isInLine = performance.now() >= inLineFromMs;
    if (isInLine) inLine += 1;
    try {
      return await applyMigration(client, migration, isInLine ? 0 : LOCK_MS);
    } catch (error) {
      if (!HINDERED.has(sqlState(error) ?? "") || inLine === MOST_IN_LINE) throw error;
      if (attempt === 1) log.info(`migration ${migration.name} needs a table that a call holds; it is tried again`);
      await client.query("ROLLBACK");
      await delay(PAUSE_MS);
    }
  }
}

/** With 0 it waits for locks without end. */
async function applyMigration(client: pg.Client, { name, sql, checksum }: Migration, lockMs: number): Promise<void> {
  try {
    await client.query(`BEGIN; SET LOCAL lock_timeout = ${lockMs}`);
    await client.query(sql);
    await client.query(
      "INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at, applied_steps_count) VALUES ($1, $2, $3, clock_timestamp(), 1)",
      [randomUUID(), checksum, name],
    );
    await client.query("COMMIT");
  } catch (error) {
    const { message, position } = error as Error & { position?: string };
    const line = position === undefined ? "" : ` (line ${sql.slice(0, Number(position)).split("\n").length})`;
    throw new MigrationError(`migration ${name} failed and changed nothing${line}: ${message}`, { cause: error });
  }
}
