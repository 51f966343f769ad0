import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { eventually } from "@downlink/recordings/testing";
import pg from "pg";
import { createEmptyDatabase } from "../testing/test-database.ts";
import { applyMigrations, migrationsDir, pendingMigrations } from "./migrations.ts";

const silent = { info: () => {}, warn: () => {} };
const first = { "1_first": "CREATE TABLE first (n int);" };
const second = { ...first, "2_second": "ALTER TABLE first ADD COLUMN m int; INSERT INTO first VALUES (1, 2);" };

test("new migrations are applied in order, and none twice", async (t) => {
  const url = await createEmptyDatabase(t);
  assert.deepEqual(await pendingMigrations({ url, dir: writeMigrations(t, second) }), ["1_first", "2_second"]);
  assert.deepEqual(await applyMigrations({ url, dir: writeMigrations(t, first), log: silent }), ["1_first"]);
  assert.deepEqual(await pendingMigrations({ url, dir: writeMigrations(t, second) }), ["2_second"]);
  assert.deepEqual(await applyMigrations({ url, dir: writeMigrations(t, second), log: silent }), ["2_second"]);
  assert.deepEqual(await applyMigrations({ url, dir: writeMigrations(t, second), log: silent }), []);
  assert.deepEqual(await query(url, "SELECT n, m FROM first"), [{ n: 1, m: 2 }]);
});

test("when many processes start at once each migration is applied by one of them, and all end with the database up to date", async (t) => {
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

test("a migration that fails changes nothing, names its line, and can be tried again once it is corrected", async (t) => {
  const url = await createEmptyDatabase(t);
  const broken = writeMigrations(t, { ...first, "2_second": "ALTER TABLE first ADD COLUMN m int;\nSELECT nothing;" });
  await assert.rejects(applyMigrations({ url, dir: broken, log: silent }), /2_second failed .*line 2.*"nothing"/);
  assert.deepEqual(await applyMigrations({ url, dir: writeMigrations(t, second), log: silent }), ["2_second"]);
});

test("a migration and a call that wait for each other's tables both succeed", async (t) => {
  const url = await createEmptyDatabase(t);
  const tables = { "1_tables": "CREATE TABLE a (n int); CREATE TABLE b (n int);" };
  await applyMigrations({ url, dir: writeMigrations(t, tables), log: silent });
  const call = new pg.Client({ connectionString: url });
  await call.connect();
  t.after(() => call.end());
  await call.query("SET deadlock_timeout = '60s'"); // it is the migration that finds the deadlock and gives way
  await call.query("BEGIN; INSERT INTO b VALUES (1)");
  const both = "ALTER TABLE a ADD COLUMN m int; ALTER TABLE b ADD COLUMN m int;";
  const applying = applyMigrations({ url, dir: writeMigrations(t, { ...tables, "2_both": both }), log: silent });
  const waiting = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'ALTER TABLE a%'";
  await eventually(
    () => query(url, waiting),
    ({ length }) => length > 0,
  );
  await call.query("INSERT INTO a VALUES (1); COMMIT");
  assert.deepEqual(await applying, ["2_both"]);
  assert.deepEqual(await query(url, "SELECT a.n, a.m, b.m AS of_b FROM a, b"), [{ n: 1, m: null, of_b: null }]);
});

test("while a migration needs a table that a call holds for long, other calls go on", async (t) => {
  const url = await createEmptyDatabase(t);
  const tables = { "1_tables": "CREATE TABLE a (n int); CREATE TABLE b (n int);" };
  await applyMigrations({ url, dir: writeMigrations(t, tables), log: silent });
  const [call, other] = [new pg.Client({ connectionString: url }), new pg.Client({ connectionString: url })];
  await Promise.all([call.connect(), other.connect()]);
  t.after(() => Promise.all([call.end(), other.end()]));
  await call.query("BEGIN; SELECT FROM b");
  const both = "ALTER TABLE a ADD COLUMN m int; ALTER TABLE b ADD COLUMN m int;";
  let applied: string[] | undefined;
  const applying = applyMigrations({ url, dir: writeMigrations(t, { ...tables, "2_both": both }), log: silent });
  void applying.then((names) => {
    applied = names;
  });
  const waiting = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'ALTER TABLE a%'";
  await eventually(
    () => query(url, waiting),
    ({ length }) => length > 0,
  );
  await other.query("SET statement_timeout = '30s'"); // it fails, and does not hang, if it has to wait for the call
  await other.query("SELECT n FROM a; SELECT n FROM b");
  assert.equal(applied, undefined);
  await call.query("COMMIT");
  assert.deepEqual(await applying, ["2_both"]);
});

test("a dollar-quoted body with semicolons is executed whole", async (t) => {
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

test("a version refuses a database from which a newer one has taken away what it needs", async (t) => {
  const url = await createEmptyDatabase(t);
  const contract = { ...second, "3_contract_names": "ALTER TABLE first DROP COLUMN m" };
  await applyMigrations({ url, dir: writeMigrations(t, contract), log: silent });
  const former = { url, dir: writeMigrations(t, second) };
  await assert.rejects(applyMigrations({ ...former, log: silent }), {
    name: "MigrationError",
    message: /has taken away what this version needs \(3_contract_names\): start that version/,
  });
  await assert.rejects(pendingMigrations(former), /3_contract_names/);
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
