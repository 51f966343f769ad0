import { sql } from "kysely";
import type { Database } from "../../db/client.ts";
import { prepare } from "../../db/prepared.ts";
import { nameStore, type StoreAddress } from "../../store/bucket-uploads/store-address.ts";
import type { MoveState, Side } from "./move-state.ts";

export interface StoreMove {
  readonly name: string;
  readonly state: MoveState;
  readonly source: StoreAddress;
  readonly target: StoreAddress;
  readonly keptAtNs: bigint | null;
}

const readMove = prepare((db) =>
  db.selectFrom("StoreMove").select(["name", "state", "source", "target", "keptAtNs"]).where("id", "=", sql.lit(1)),
);

/** Reads the move that is under way at this moment; undefined if there is none. Nothing remembers it, because it may go on at any time. */
export async function findMove(db: Pick<Database, "pool">): Promise<StoreMove | undefined> {
  return (await readMove(db, {}))[0] as StoreMove | undefined;
}

/** Returns undefined for a store that has nothing to do with the move. */
export function sideOf({ source, target }: StoreMove, own: StoreAddress): Side | undefined {
  if (nameStore(own) === nameStore(source)) return "source";
  return nameStore(own) === nameStore(target) ? "target" : undefined;
}

/**
 * The note that is written into both stores before new objects go to the target. A database that was restored from an older backup learns
 * from it that there are two stores. It is no kind of note that a backup has: what is restored elsewhere has one store.
 */
export const MOVES = "moves/";

export function moveNote({ name }: Pick<StoreMove, "name">): string {
  return `${MOVES}${name}`;
}
