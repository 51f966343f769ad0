import { globSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";

interface Definition {
  readonly name: string;
  readonly text: string;
  /** Whether it was made or replaced in the transaction that asks. */
  readonly isNew: boolean;
}

/** The functions of the project and its triggers as Postgres writes them, without those of extensions and of foreign keys. */
const DEFINITIONS = `
  SELECT 'function ' || p.oid::regprocedure AS name, pg_get_functiondef(p.oid) AS text,
    p.xmin = pg_current_xact_id()::xid AS "isNew"
  FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
  UNION ALL
  SELECT 'trigger ' || t.tgname || ' of ' || t.tgrelid::regclass, pg_get_triggerdef(t.oid), t.xmin = pg_current_xact_id()::xid
  FROM pg_trigger t WHERE NOT t.tgisinternal
  ORDER BY 1`;

/**
 * Compares the functions and triggers of a migrated database with the files of a folder, which hold them as they are now. Returns a line for
 * each that is different, or is in one of the two alone. Each file is a script that makes or replaces its definitions; the database stays as it is.
 */
export async function compareDefinitions(url: string, folder: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query("BEGIN");
    const migrated = await readDefinitions(client);
    for (const file of globSync("*.sql", { cwd: folder }).sort())
      await client.query(await readFile(join(folder, file), "utf8")).catch((error: Error) => {
        throw new Error(`${file}: ${error.message}`, { cause: error });
      });
    const written = await readDefinitions(client);
    return [...written.values()].flatMap(({ name, text, isNew }) => {
      const before = migrated.get(name);
      if (before === undefined) return [`${name} is in no migration`];
      if (!isNew) return [`${name} is in no file`];
      return before.text === text ? [] : [`${name} is in the migrations:\n${before.text}\nand in its file:\n${text}`];
    });
  } finally {
    await client.end();
  }
}

async function readDefinitions(client: pg.Client): Promise<Map<string, Definition>> {
  const { rows } = await client.query<Definition>(DEFINITIONS);
  return new Map(rows.map((row) => [row.name, row]));
}
