import { pagesOf } from "../../core/pages-of.ts";
import type { Database } from "../../db/client.ts";
import { Prisma } from "../../db/generated/client.ts";
import { LEDGER } from "../../recovery/note-entries.ts";
import type { NoteStore } from "../../store/blobs/notes.ts";

interface LedgerDeps {
  readonly db: Pick<Database, "pool">;
  readonly blobs: Pick<NoteStore, "listNotes">;
}

const PAGE = 500;

/**
 * Yields the ids of the entries in the store that the database does not have, in the order of time. Stores list in no order: the ids are kept
 * in a temporary table, so that memory does not grow with the ledger.
 */
export async function* unknownEntries({ db, blobs }: LedgerDeps): AsyncGenerator<string, void> {
  const client = await db.pool.connect();
  try {
    await client.query(Prisma.sql`CREATE TEMPORARY TABLE unknown (id text COLLATE "C" PRIMARY KEY)`);
    for await (const page of pagesOf(blobs.listNotes(LEDGER)))
      await client.query(
        Prisma.sql`
          INSERT INTO unknown SELECT n.id FROM unnest(${page.map(({ key }) => key.slice(LEDGER.length))}::text[]) AS n(id)
          WHERE NOT EXISTS (SELECT FROM "LedgerEntry" l WHERE l.id = n.id) ON CONFLICT DO NOTHING`,
      );
    for (let last = ""; ; ) {
      const { rows } = await client.query<{ id: string }>(
        Prisma.sql`SELECT id FROM unknown WHERE id > ${last} ORDER BY id LIMIT ${PAGE}`,
      );
      for (const { id } of rows) yield id;
      if (rows.length < PAGE) return;
      last = rows.at(-1)!.id;
    }
  } finally {
    client.release(true); // ends the connection, and the table with it
  }
}
