/** A mismatch that the check found. */
export interface Finding {
  readonly kind: FindingKind;
  /** The object's key, or the row's id. */
  readonly subject: string;
  /** A sentence that says what is wrong. */
  readonly text: string;
  readonly isRepaired?: boolean;
}

export type FindingKind =
  | "missing object"
  | "wrong size"
  | "altered object"
  | "unreadable object"
  | "damaged data"
  | "object without row"
  | "leftover"
  | "unfinished write"
  | "held twice"
  | "wrong organization"
  | "wrong state"
  | "wrong counter"
  | "wrong copy"
  | "missing row"
  | "missing manifest"
  | "wrong manifest";
