import type { Deps } from "../../calls/context/context.ts";
import type { Database } from "../../db/client.ts";
import { withTransaction } from "../../db/transaction.ts";
import type { MoveState } from "../../keeping/stores/move-state.ts";
import { findMove, moveNote } from "../../keeping/stores/store-move.ts";
import { nameStore } from "../../store/bucket-uploads/store-address.ts";
import { CopyError } from "./copy-errors.ts";

type Names = Readonly<Record<"source" | "target", string>>;

const doing: Readonly<Record<MoveState, (names: Names) => string>> = {
  copying: ({ source, target }) => `objects are copied from ${source} to ${target}; only the former is used yet`,
  both: ({ source, target }) =>
    `objects move from ${source} to ${target}; both are used, and new objects go to the latter`,
  kept: ({ source, target }) => `objects were moved to ${target}; ${source} is kept as it was and is not used any more`,
};

/** Returns what an operator must know of a move to another store, in one line; none if nothing moves. */
export async function describeMove(db: Pick<Database, "pool">): Promise<string[]> {
  const move = await findMove(db);
  if (!move) return [];
  const names = { source: nameStore(move.source), target: nameStore(move.target) };
  return [`${doing[move.state](names)} (downlink admin blobs copy goes on)`];
}

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
