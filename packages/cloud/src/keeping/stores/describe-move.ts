import type { Database } from "../../db/client.ts";
import { nameStore } from "../../store/bucket-uploads/store-address.ts";
import type { MoveState } from "./move-state.ts";
import { findMove } from "./store-move.ts";

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
