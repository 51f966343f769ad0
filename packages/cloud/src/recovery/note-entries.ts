// Entries of the ledger commit with the changes that they describe. They are noted in the object store after that commit and before the
// answer; whatever fails then is made good by a job. The same entry always makes the same bytes.

import { sql } from "kysely";
import type { Database } from "../db/client.ts";
import { prepare } from "../db/prepared.ts";
import type { NoteStore } from "../store/blobs/notes.ts";

export const LEDGER = "ledger/";
const PAGE = 100;
const LAST_ID = "9".repeat(19);

interface LedgerDeps {
  readonly db: Pick<Database, "pool" | "prisma">;
  readonly blobs: NoteStore;
}

const findUnnoted = prepare(
  () => sql<{ id: string; text: string }>`
    SELECT id, json_build_object('id', id, 'kind', kind, 'subject', subject, 'data', data)::text AS text
    FROM "LedgerEntry" WHERE NOT "isNoted" ORDER BY id LIMIT ${sql.lit(PAGE)}`,
);

/** Copies into the object store what it does not have of the ledger. */
export async function noteEntries({ db, blobs }: LedgerDeps): Promise<void> {
  for (;;) {
    const rows = await findUnnoted(db, {});
    for (const { id, text } of rows) await blobs.putNote(`${LEDGER}${id}`, Buffer.from(text));
    const ids = rows.map(({ id }) => id);
    if (ids.length > 0) await db.prisma.ledgerEntry.updateMany({ where: { id: { in: ids } }, data: { isNoted: true } });
    if (rows.length < PAGE) return;
  }
}

/** Does the same before a change is answered. The answer does not wait for a store that fails, because a job tries again each minute. */
export async function noteOrWarn(
  deps: LedgerDeps & { readonly log: { warn(details: object, message: string): void } },
): Promise<void> {
  try {
    await noteEntries(deps);
  } catch (error) {
    deps.log.warn({ err: error }, "the object store does not have what was changed; it is tried again");
  }
}

/** Forgets what is older than any backup that will ever be restored. */
export async function forgetOldEntries({ db, blobs }: LedgerDeps, beforeNs: bigint): Promise<void> {
  const end = beforeNs.toString().padStart(LAST_ID.length, "0");
  for await (const { key } of blobs.listNotes(LEDGER)) if (key.slice(LEDGER.length) < end) await blobs.removeNote(key);
  await db.prisma.ledgerEntry.deleteMany({ where: { id: { lt: end }, isNoted: true } });
}
