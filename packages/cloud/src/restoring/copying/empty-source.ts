import { pagesOf as pagesOfItems } from "../../core/pages-of.ts";
import { runSomeAtOnce } from "../../core/run-some-at-once.ts";
import { Prisma } from "../../db/generated/client.ts";
import { withTransaction } from "../../db/transaction.ts";
import { NOTE_KINDS } from "../../keeping/backup/copy-notes.ts";
import { pagesOf } from "../../keeping/integrity/suspects.ts";
import { moveNote, type StoreMove } from "../../keeping/stores/store-move.ts";
import { nameStore } from "../../store/bucket-uploads/store-address.ts";
import type { CopyDeps } from "./copy-deps.ts";
import { type CopiedObjects, copyObjects } from "./copy-objects.ts";
import { listStores } from "./listed-stores.ts";

const AT_ONCE = 8;
/**
 * Selects the objects that a row needs: a process that stood still since the switch may have written them to the source by mistake. Objects
 * that were deleted since stay deleted.
 */
const IS_NEEDED = Prisma.sql`EXISTS (SELECT FROM promised p WHERE p.key = l.key)`;

/** Removes everything from the source, and ends the move. An object that a row needs is removed only once the target has it. */
export async function emptySource(
  deps: CopyDeps,
  move: StoreMove,
  { isLeavingOutDamaged }: { isLeavingOutDamaged: boolean },
): Promise<CopiedObjects> {
  await using session = await listStores(deps);
  const outcome = await copyObjects(deps, session, IS_NEEDED);
  if (outcome.damaged > 0 && !isLeavingOutDamaged) return outcome;
  for await (const page of pagesOf<{ key: string }>(session, Prisma.sql`SELECT DISTINCT key FROM listed`))
    await runSomeAtOnce(page, AT_ONCE, async ({ key }) => {
      deps.signal.throwIfAborted();
      await deps.source.delete(key);
    });
  for (const kind of NOTE_KINDS)
    for await (const page of pagesOfItems(deps.source.listNotes(`${kind}/`)))
      await runSomeAtOnce(page, AT_ONCE, ({ key }) => deps.source.removeNote(key));
  await endMove(deps, move);
  return outcome;
}

/** The row goes last: before that the same command goes on. */
async function endMove({ db, source, target }: CopyDeps, move: StoreMove): Promise<void> {
  for (const store of [source, target]) await store.removeNote(moveNote(move));
  await withTransaction(db, async (tx) => {
    await tx.$executeRaw`TRUNCATE "MovedObject"`;
    await tx.bucketUpload.deleteMany({ where: { place: nameStore(move.source) } });
    await tx.bucketUpload.updateMany({ data: { place: null } });
    await tx.storeMove.deleteMany({ where: { name: move.name } });
  });
}
