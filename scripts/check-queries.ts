// Checks that the control plane asks the database in one of the ways that CONTRIBUTING.md names, so that values are always parameters: not by
// texts that are put together. Left out are `db/`, the connections of the job queue, whose library writes its own texts, and what a backup
// asks another server, or the server for a copy of itself.
import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

const SOURCES = resolve(import.meta.dirname, "../packages/cloud/src");
const LEFT_OUT = [
  "db/**",
  "**/*.{test,slow,suite}.ts",
  "**/testing/**",
  "background/jobs/job-connections.ts",
  "keeping/backup/{base-backup,prove-database}.ts",
];
const REFUSED: readonly (readonly [RegExp, string])[] = [
  [/\bpool\s*\.query\b/, "use newPoolReader or writeSql with Prisma.sql, or a statement of prepare"],
  [/\.\$(query|execute)RawUnsafe\b/, "use $queryRaw or $executeRaw with a template"],
  [/\.query(<[^(]*>)?\(\s*\{\s*(text|name):/, "give query a statement of Prisma.sql"],
  [/(?<!req)\.query(<[^(]*>)?\(\s*["'`]/, "give query a statement of Prisma.sql"],
];

const PLANTED = [
  'await db.pool.query("SELECT 1");',
  "await pool\n  .query<Row>(text, [id]);",
  "await tx.$queryRawUnsafe<Row[]>(`SELECT $1`, id);",
  "await tx.$executeRawUnsafe(text);",
  "await client.query(\n  `SELECT $1`, [id]);",
  "await client.query<Row>({ text: SELECT, values });",
];
const ALLOWED = [
  "await client.query(Prisma.sql`SELECT 1`);",
  'const token = c.req.query("token");',
  "await tx.$queryRaw`SELECT 1`;",
];

const faults = globSync("**/*.ts", { cwd: SOURCES, exclude: LEFT_OUT })
  .sort()
  .flatMap((file) => {
    const text = readFileSync(join(SOURCES, file), "utf8");
    return REFUSED.filter(([pattern]) => pattern.test(text)).map(
      ([, advice]) => `packages/cloud/src/${file}: ${advice}`,
    );
  });
for (const text of PLANTED)
  if (!REFUSED.some(([pattern]) => pattern.test(text))) faults.push(`planted and not found: ${text}`);
for (const text of ALLOWED)
  if (REFUSED.some(([pattern]) => pattern.test(text))) faults.push(`allowed and refused: ${text}`);
console.log(faults.length === 0 ? "the database is asked by templates and statements" : faults.join("\n"));
process.exitCode = faults.length === 0 ? 0 : 1;
