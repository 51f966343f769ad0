// Writes migrations from the schema:
//
//   node scripts/migrate.ts create NAME   a new migration with what prisma/schema has and the migrations have not
//   node scripts/migrate.ts drift         prints that difference, and that of prisma/functions, and exits 2 when there is one
//
// DATABASE_URL names a server on which a database for the comparison may be made and dropped; without it one is started.
// --schema DIR, --migrations DIR and --functions DIR stand for the folders under prisma/.
import { globSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import type { SchemaContainer } from "@prisma/schema-engine-wasm";
import { applyMigrations } from "../packages/cloud/src/db/migrations.ts";
import { withEmptyDatabase } from "./empty-database.ts";
import { diffToSchema } from "./schema-engine.ts";
import { compareDefinitions } from "./sql-definitions.ts";

const PRISMA = resolve(import.meta.dirname, "..", "prisma");
const DRIFT_EXIT_CODE = 2;
const silent = { info: () => {}, warn: () => {} };

const { values: folders, positionals } = parseArgs({
  options: {
    schema: { type: "string", default: join(PRISMA, "schema") },
    migrations: { type: "string", default: join(PRISMA, "migrations") },
    functions: { type: "string", default: join(PRISMA, "functions") },
  },
  allowPositionals: true,
});
const [command, name = ""] = positionals;
if (command === "create" && /^[a-z0-9_]+$/.test(name)) await createMigration(name);
else if (command === "drift") await reportDrift();
else fail("usage: migrate.ts create NAME (a-z, 0-9 and _) | drift");

async function createMigration(name: string): Promise<void> {
  const sql = await withMigrated(async (url) => diffToSchema(url, await readSchema()));
  if (sql === undefined) return console.log("the schema has nothing that the migrations have not");
  const stamp = new Date().toISOString().replace(/\D/g, "").slice(0, 14);
  const folder = join(folders.migrations, `${stamp}_${name}`);
  await mkdir(folder);
  await writeFile(join(folder, "migration.sql"), sql);
  console.log(`wrote ${join(folder, "migration.sql")}: read it, and add by hand what the schema cannot say`);
}

async function reportDrift(): Promise<void> {
  await withMigrated(async (url) => {
    const sql = await diffToSchema(url, await readSchema());
    if (sql !== undefined)
      reportOne(`${sql}\nprisma/schema says more than the migrations: run "npm run db:create NAME"`);
    const differences = await compareDefinitions(url, folders.functions);
    if (differences.length > 0)
      reportOne(`prisma/functions is not what the migrations make:\n${differences.join("\n")}`);
    if (process.exitCode === undefined) console.log("the migrations give what prisma/schema and prisma/functions say");
  });
}

function reportOne(difference: string): void {
  console.log(difference);
  process.exitCode = DRIFT_EXIT_CODE;
}

/** Applies the migrations to an empty database, as in production. */
function withMigrated<T>(work: (url: string) => Promise<T>): Promise<T> {
  return withEmptyDatabase(async (url) => {
    await applyMigrations({ url, dir: folders.migrations, log: silent });
    return await work(url);
  });
}

function readSchema(): Promise<SchemaContainer[]> {
  const paths = globSync("**/*.prisma", { cwd: folders.schema }).sort();
  const read = async (path: string) => ({ path, content: await readFile(path, "utf8") });
  return Promise.all(paths.map((path) => read(resolve(folders.schema, path))));
}

function fail(message: string): void {
  console.error(message);
  process.exitCode = 1;
}
