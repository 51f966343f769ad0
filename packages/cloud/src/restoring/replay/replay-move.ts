import type { Deps } from "../../calls/context/context.ts";
import { withTransaction } from "../../db/transaction.ts";
import { MOVES } from "../../keeping/stores/store-move.ts";

/**
 * A database that was restored to before the objects went to two stores learns of the second one, or the walk would miss what is only
 * there. Both stores are in use again; the command that moves them goes on from there.
 */
export async function replayMove({ db, blobs, log }: Pick<Deps, "db" | "blobs" | "log">): Promise<void> {
  for await (const { key } of blobs.listNotes(MOVES)) {
    const bytes = await blobs.getNote(key);
    if (!bytes) continue;
    const [name, text] = [key.slice(MOVES.length), Buffer.from(bytes).toString()];
    const changed = await withTransaction(
      db,
      (tx) => tx.$executeRaw`
        INSERT INTO "StoreMove" (name, state, source, target)
        SELECT ${name}, 'both', m -> 'source', m -> 'target' FROM (SELECT ${text}::jsonb AS m) note
        ON CONFLICT (id) DO UPDATE SET state = 'both' WHERE "StoreMove".name = excluded.name AND "StoreMove".state = 'copying'`,
    );
    if (changed > 0) log.warn({ move: name }, "the objects were moving to another store: both are used");
  }
}
