import type { StoreMoveModel } from "../../db/generated/models.ts";

/**
 * The move of all objects to another store, in the order of its states:
 *
 *   (none) ──begin──▶ copying ──switch──▶ both ──settle──▶ kept ──empty──▶ (none)
 *                        └──abandon──▶ (none)
 *
 * - `copying` everything is as before: processes know the old store only, and one command copies
 * - `both` the new store takes what comes, and what is not found in one store is looked for in the other; uploads end where they began;
 *   notes go to both, and what is removed is removed from both
 * - `kept` processes know the new store only; the old one is a copy of that moment, until no backup needs it any more
 *
 * An object has the same key in both stores, and a key never names other bytes: so it does not matter in which of them it is found.
 */
export type MoveState = StoreMoveModel["state"];

/** Which of the two stores a process uses by its settings. */
export type Side = "source" | "target";

/**
 * The way a process uses the stores in a state:
 * - `alone` it uses its own store only
 * - `both` it uses both stores
 * - `early` its settings name the new store, which does not have everything yet
 * - `late` its settings name the old store, which nothing uses any more
 */
export type Use = "alone" | "both" | "early" | "late";

const uses: Record<MoveState, Record<Side, Use>> = {
  copying: { source: "alone", target: "early" },
  both: { source: "both", target: "both" },
  kept: { source: "late", target: "alone" },
};

export function useOf(state: MoveState, side: Side): Use {
  return uses[state][side];
}
