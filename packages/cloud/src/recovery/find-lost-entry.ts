import { pagesOf } from "../core/pages-of.ts";
import type { Database } from "../db/client.ts";
import type { BlobStore } from "../store/blobs/blob-store.ts";
import { LEDGER } from "./note-entries.ts";

interface LostDeps {
  readonly db: Pick<Database, "prisma">;
  readonly blobs: Pick<BlobStore, "listNotes">;
}

/**
 * Finds the id of an entry of the ledger that was noted after `sinceMs` and whose row is missing: rows exist before notes and are removed
 * after them, so the database is older than the store. Returns undefined if no row is missing.
 */
export async function findLostEntry({ db, blobs }: LostDeps, sinceMs: number): Promise<string | undefined> {
  for await (const page of pagesOf(blobs.listNotes(LEDGER))) {
    const ids = page.flatMap(({ key, modifiedAtMs }) => (modifiedAtMs >= sinceMs ? [key.slice(LEDGER.length)] : []));
    const [lost] = await db.prisma.$queryRaw<{ id: string }[]>`
      SELECT n.id FROM unnest(${ids}::text[]) AS n(id)
      WHERE NOT EXISTS (SELECT 1 FROM "LedgerEntry" l WHERE l.id = n.id) LIMIT 1`;
    if (lost) return lost.id;
  }
  return undefined;
}
