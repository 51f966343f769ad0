import type { Deps } from "../../calls/context/context.ts";
import { withTransaction } from "../../db/transaction.ts";
import { findMove, moveNote } from "../../keeping/stores/store-move.ts";
import { nameStore } from "../../store/bucket-uploads/store-address.ts";
import { CopyError } from "./copy-errors.ts";

/** Forgets a move before the switch, and returns its target: the source has everything until then, and the target need not answer. */
export async function abandonMove({ db, blobs }: Pick<Deps, "db" | "blobs">): Promise<string> {
  const move = await findMove(db);
  if (!move) throw new CopyError("nothing moves to another store");
  const target = nameStore(move.target);
  if (move.state !== "copying") throw new CopyError(`new objects are in ${target} already: the move can only go on`);
  await blobs.removeNote(moveNote(move));
  await withTransaction(db, async (tx) => {
    await tx.bucketUpload.updateMany({ data: { place: null } });
    await tx.storeMove.deleteMany({ where: { name: move.name, state: "copying" } });
  });
  return target;
}
