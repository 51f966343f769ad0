import { Prisma } from "../../db/generated/client.ts";
import type { Folder } from "../../store/blobs/folder.ts";
import { groupItems } from "../integrity/group-items.ts";
import { keepRows, type Session } from "../integrity/listed-objects.ts";
import { listBackups, OBJECTS } from "./backup-record.ts";
import { type ObjectLine, readLines } from "./lines.ts";

const ROWS_PER_STATEMENT = 500;

/**
 * Lists what the place holds already in two tables: `stored` are the existing objects, and `known` is what earlier backups, even broken
 * ones, recorded about them.
 */
export async function keepCopied(session: Session, folder: Folder): Promise<void> {
  await session.query(Prisma.sql`CREATE TEMPORARY TABLE stored (key text NOT NULL, "sizeBytes" bigint NOT NULL)`);
  for await (const group of groupItems(folder.list(OBJECTS), ROWS_PER_STATEMENT))
    await keepRows(session, "stored", group.map(toStored));
  await session.query(Prisma.sql`CREATE TEMPORARY TABLE known
    (key text NOT NULL, "sizeBytes" bigint NOT NULL, sha256 text NOT NULL, backup text NOT NULL)`);
  const { complete, incomplete } = await listBackups(folder);
  for (const backup of [...complete, ...incomplete]) await keepLines(session, folder, backup);
  for (const table of ["stored", "known"]) {
    await session.query(Prisma.sql`CREATE INDEX ON ${Prisma.raw(table)} (key)`);
    await session.query(Prisma.sql`ANALYZE ${Prisma.raw(table)}`);
  }
}

function toStored({ name, sizeBytes }: { name: string; sizeBytes: number }) {
  return { key: name.slice(OBJECTS.length), sizeBytes };
}

/** Adds what a backup recorded about its objects to `known`. */
export async function keepLines(session: Session, folder: Folder, backup: string): Promise<void> {
  for (const name of await listNames(folder, `${backup}/`)) {
    if (!name.startsWith(`${backup}/objects-`)) continue;
    const lines = readLines<ObjectLine>((await folder.read(name))!);
    for await (const group of groupItems(lines, ROWS_PER_STATEMENT)) {
      const rows = group.map((line) => ({ ...line, backup }));
      await keepRows(session, "known", rows);
    }
  }
}

/** Lists the names of the files below a prefix, in order. */
export async function listNames(folder: Folder, prefix: string): Promise<string[]> {
  return (await Array.fromAsync(folder.list(prefix), ({ name }) => name)).sort();
}
