import type { Mark } from "./marks.ts";

/** The facts that the database has about itself, read after the marks were listed. */
export interface Known {
  readonly deployment: string;
  readonly incarnation: string;
  /** The number of the last mark that it was about to write. */
  readonly sequence: bigint;
  /** Only its incarnation writes marks with a higher number than this. */
  readonly openedSequence: bigint;
  /** Its incarnation is so young that marks of another one come from a process that works beside it. */
  readonly isNew: boolean;
}

/**
 * - `fine`: database and store belong together.
 * - `open`: one of them is older than the other, so another incarnation is opened, which recovers.
 * - `conflict`: another database uses this store at this moment, and an admin must decide.
 * - `stop`: the store is not the one that the database knows.
 */
export type Verdict =
  | { readonly kind: "fine" }
  | { readonly kind: "open"; readonly reason: string; readonly others: readonly string[] }
  | { readonly kind: "conflict"; readonly reason: string }
  | { readonly kind: "stop"; readonly reason: string };

/** `confirmed` is the name of the last mark that the store confirmed before the marks were listed. */
export function judgeMarks(marks: readonly Mark[], known: Known, confirmed: string | null): Verdict {
  const foreign = marks.find((mark) => mark.deployment !== known.deployment && mark.sequence > known.openedSequence);
  if (foreign) return { kind: "stop", reason: FOREIGN_MARKS };
  if (marks.length === 0 && confirmed !== null) return { kind: "stop", reason: NO_MARKS };
  const ours = marks.filter(({ deployment }) => deployment === known.deployment);
  const strangers = ours.filter(
    (mark) => mark.incarnation !== known.incarnation && mark.sequence > known.openedSequence,
  );
  if (strangers.length > 0 && known.isNew) return { kind: "conflict", reason: TWO_DATABASES };
  const others = [...new Set(strangers.flatMap(({ incarnation, ancestors }) => [...ancestors, incarnation]))];
  if (strangers.length > 0 || ours.some(({ sequence }) => sequence > known.sequence))
    return {
      kind: "open",
      reason: "the database is older than the object store: it was restored from a backup",
      others,
    };
  if (confirmed !== null && !marks.some(({ name }) => name === confirmed))
    return { kind: "open", reason: "the object store is older than the database: it was set back", others: [] };
  return { kind: "fine" };
}

const FOREIGN_MARKS =
  "the object store holds marks of another deployment; give each deployment a store of its own (downlink admin recovery --accept-store takes it over; if its database is lost, --from-store makes it again)";
const NO_MARKS =
  "the object store has no mark, though it confirmed one: it is a wrong or unmounted store (downlink admin recovery --accept-store goes on with it)";
const TWO_DATABASES =
  "two databases use one object store, as when a copy was started: stop one of them, then run downlink admin recovery --accept-store for the other";
