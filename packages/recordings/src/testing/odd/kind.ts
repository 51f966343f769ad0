import type { Dice } from "./dice.ts";
import type { Draft } from "./draft.ts";

/** One way in which a file can be odd. */
export interface OddKind {
  readonly name: string;
  /**
   * `legal`: what the format allows, so every reader must give all of it. `wrong`: the file contradicts the format or itself;
   * a reader may refuse it, but may not give less than all without saying so.
   */
  readonly grade: "legal" | "wrong";
  /**
   * The part of the file that it changes: of kinds that share one of these a file has one at most, because together they would undo each
   * other.
   */
  readonly rivals?: readonly string[];
  /** Costs much, so it is seldom taken. */
  readonly isRare?: boolean;
  twist(draft: Draft, dice: Dice): Draft;
}
