import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import pg from "pg";
import { withEmptyDatabase } from "./empty-database.ts";
import { compareDefinitions } from "./sql-definitions.ts";

const MIGRATE = join(import.meta.dirname, "migrate.ts");
const PRISMA = join(import.meta.dirname, "..", "prisma");
const MODEL = "model Robot {\n  id String @id\n  bornNs BigInt\n  tags String[]\n}\n";

test("a schema of many files becomes a migration, and afterwards there is no drift", (t) => {
  const prisma = makeSchema(t);
  writeFileSync(join(prisma, "schema", "robot.prisma"), MODEL);
  const drift = migrate(prisma, "drift");
  assert.equal(drift.status, 2);
  assert.match(drift.stdout, /CREATE TABLE "Robot" \(\n\s+"id" TEXT NOT NULL,\n\s+"bornNs" BIGINT NOT NULL,/);
  assert.equal(migrate(prisma, "create", "robots").status, 0);
  const [folder = ""] = readdirSync(join(prisma, "migrations")).filter((entry) => /^\d{14}_robots$/.test(entry));
  assert.match(readFileSync(join(prisma, "migrations", folder, "migration.sql"), "utf8"), /CREATE TABLE "Robot"/);
  assert.equal(migrate(prisma, "drift").status, 0);
});

test("a field that was added makes up the whole next migration, and what only SQL can express is no drift", (t) => {
  const prisma = makeSchema(t);
  mkdirSync(join(prisma, "migrations", "1_robots"));
  const sql =
    'CREATE TABLE "Robot" (id text PRIMARY KEY, "bornNs" bigint NOT NULL CHECK ("bornNs" > 0), tags text[]); CREATE INDEX late ON "Robot" (id) WHERE "bornNs" > 7;';
  writeFileSync(join(prisma, "migrations", "1_robots", "migration.sql"), sql);
  writeFileSync(join(prisma, "schema", "robot.prisma"), MODEL);
  assert.equal(migrate(prisma, "drift").status, 0);
  writeFileSync(join(prisma, "schema", "robot.prisma"), MODEL.replace("tags", "name String?\n  tags"));
  const drift = migrate(prisma, "drift");
  assert.equal(drift.status, 2);
  assert.match(drift.stdout, /^-- AlterTable\nALTER TABLE "Robot" ADD COLUMN\s+"name" TEXT;\n\nprisma/);
});

test("a function or trigger that its file does not have as the database has it is named, and so is one that only one of them has", async (t) => {
  const folder = join(makeSchema(t), "functions");
  const write = (name: string, sql: string) => writeFileSync(join(folder, `${name}.sql`), sql);
  const one = "CREATE OR REPLACE FUNCTION one() RETURNS int LANGUAGE sql AS 'SELECT 1';";
  const two = one.replace("SELECT 1", "SELECT 2");
  await withEmptyDatabase(async (url) => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(one);
    assert.deepEqual(await compareDefinitions(url, folder), ["function one() is in no file"]);
    write("one", one);
    assert.deepEqual(await compareDefinitions(url, folder), []);
    write("one", two);
    const [difference, ...others] = await compareDefinitions(url, folder);
    assert.match(difference!, /^function one\(\) is in the migrations:.*SELECT 1.*and in its file:.*SELECT 2/s);
    assert.deepEqual(others, []);
    await client.query(two);
    write("three", one.replace("one()", "three()"));
    assert.deepEqual(await compareDefinitions(url, folder), ["function three() is in no migration"]);
    await client.end();
  });
});

test("a name that is no file name is refused, and so is a schema that does not parse", (t) => {
  const prisma = makeSchema(t);
  assert.equal(migrate(prisma, "create", "../x").status, 1);
  writeFileSync(join(prisma, "schema", "robot.prisma"), "model Robot { id Strong @id }\n");
  const broken = migrate(prisma, "drift");
  assert.equal(broken.status, 1);
  assert.match(broken.stderr, /Strong/);
});

/** Makes a schema folder with this project's generators and no model. */
function makeSchema(t: TestContext): string {
  const prisma = mkdtempSync(join(tmpdir(), "schema-"));
  t.after(() => rmSync(prisma, { recursive: true }));
  for (const folder of ["schema", "migrations", "functions"]) mkdirSync(join(prisma, folder));
  cpSync(join(PRISMA, "schema", "main.prisma"), join(prisma, "schema", "main.prisma"));
  return prisma;
}

function migrate(prisma: string, ...args: string[]) {
  const folders = ["schema", "migrations", "functions"].flatMap((name) => [`--${name}`, join(prisma, name)]);
  return spawnSync(process.execPath, [MIGRATE, ...args, ...folders], { encoding: "utf8" });
}
