import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import pg from "pg";
import { createEmptyDatabase } from "../testing/test-database.ts";
import { applyMigrations, migrationsDir, pendingMigrations } from "./migrations.ts";

const silent = { info: () => {}, warn: () => {} };
const first = { "1_first": "CREATE TABLE first (n int);" };
const second = { ...first, "2_second": "ALTER TABLE first ADD COLUMN m int; INSERT INTO first VALUES (1, 2);" };

test("what is new is applied in order, and nothing twice", async (t) => {
  const url = await createEmptyDatabase(t);
  assert.deepEqual(await pendingMigrations({ url, dir: writeMigrations(t, second) }), ["1_first", "2_second"]);
  assert.deepEqual(await applyMigrations({ url, dir: writeMigrations(t, first), log: silent }), ["1_first"]);
  assert.deepEqual(await pendingMigrations({ url, dir: writeMigrations(t, second) }), ["2_second"]);
  assert.deepEqual(await applyMigrations({ url, dir: writeMigrations(t, second), log: silent }), ["2_second"]);
  assert.deepEqual(await applyMigrations({ url, dir: writeMigrations(t, second), log: silent }), []);
  assert.deepEqual(await query(url, "SELECT n, m FROM first"), [{ n: 1, m: 2 }]);
});

test("of many that start at once each migration is applied by one, and all end with the database up to date", async (t) => {
  const url = await createEmptyDatabase(t);
  const dir = writeMigrations(t, second);
  const applied = await Promise.all(Array.from({ length: 8 }, () => applyMigrations({ url, dir, log: silent })));
  assert.deepEqual(applied.flat().sort(), ["1_first", "2_second"]);
  assert.equal((await query(url, "SELECT * FROM first")).length, 1);
});

test("a migration that was edited after it was applied is refused by name, and nothing after it is applied", async (t) => {
  const url = await createEmptyDatabase(t);
  await applyMigrations({ url, dir: writeMigrations(t, first), log: silent });
  const dir = writeMigrations(t, { ...second, "1_first": "CREATE TABLE first (n bigint);" });
  await assert.rejects(applyMigrations({ url, dir, log: silent }), /1_first was edited after it was applied/);
  await assert.rejects(pendingMigrations({ url, dir }), /1_first was edited/);
  assert.deepEqual(await pendingMigrations({ url, dir: writeMigrations(t, second) }), ["2_second"]);
});

test("a migration that fails changes nothing, names its line, and can be tried again when it is mended", async (t) => {
  const url = await createEmptyDatabase(t);
  const broken = writeMigrations(t, { ...first, "2_second": "ALTER TABLE first ADD COLUMN m int;\nSELECT nothing;" });
  await assert.rejects(applyMigrations({ url, dir: broken, log: silent }), /2_second failed .*line 2.*"nothing"/);
  assert.deepEqual(await applyMigrations({ url, dir: writeMigrations(t, second), log: silent }), ["2_second"]);
});

test("a dollar-quoted body with semicolons arrives whole", async (t) => {
  const url = await createEmptyDatabase(t);
  const sql = "CREATE FUNCTION two() RETURNS int LANGUAGE plpgsql AS $$ BEGIN PERFORM 1; RETURN 2; END $$;";
  await applyMigrations({ url, dir: writeMigrations(t, { "1_function": sql }), log: silent });
  assert.deepEqual(await query(url, "SELECT two()"), [{ two: 2 }]);
});

test("a migration that another tool left unfinished is named", async (t) => {
  const url = await createEmptyDatabase(t);
  const dir = writeMigrations(t, first);
  await applyMigrations({ url, dir, log: silent });
  await query(url, "INSERT INTO _prisma_migrations (id, checksum, migration_name) VALUES ('x', 'y', '9_theirs')");
  await assert.rejects(applyMigrations({ url, dir, log: silent }), /9_theirs was begun by another tool/);
});

test("a database that a newer version has migrated is used, with a warning", async (t) => {
  const url = await createEmptyDatabase(t);
  await applyMigrations({ url, dir: writeMigrations(t, second), log: silent });
  const warnings: string[] = [];
  const log = { ...silent, warn: (message: string) => void warnings.push(message) };
  assert.deepEqual(await applyMigrations({ url, dir: writeMigrations(t, first), log }), []);
  assert.match(warnings.join(), /does not know: 2_second/);
});

test("this project's own migrations apply to an empty database", async (t) => {
  const url = await createEmptyDatabase(t);
  const pending = await pendingMigrations({ url, dir: migrationsDir });
  assert.deepEqual(await applyMigrations({ url, dir: migrationsDir, log: silent }), pending);
  assert.deepEqual(await pendingMigrations({ url, dir: migrationsDir }), []);
});

function writeMigrations(t: TestContext, migrations: Record<string, string>): string {
  const dir = mkdtempSync(join(tmpdir(), "migrations-"));
  t.after(() => rmSync(dir, { recursive: true }));
  for (const [name, sql] of Object.entries(migrations)) {
    mkdirSync(join(dir, name));
    writeFileSync(join(dir, name, "migration.sql"), sql);
  }
  return dir;
}

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}
