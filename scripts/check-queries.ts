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
  [/(?<!req)\.query(<[^(]*>)?\(\s*["'`]/, "give query a statement of Prisma.sql"],
];

const faults = globSync("**/*.ts", { cwd: SOURCES, exclude: LEFT_OUT })
  .sort()
  .flatMap((file) => {
    const text = readFileSync(join(SOURCES, file), "utf8");
    return REFUSED.filter(([pattern]) => pattern.test(text)).map(
      ([, advice]) => `packages/cloud/src/${file}: ${advice}`,
    );
  });
console.log(faults.length === 0 ? "the database is asked by templates and statements" : faults.join("\n"));
process.exitCode = faults.length === 0 ? 0 : 1;
