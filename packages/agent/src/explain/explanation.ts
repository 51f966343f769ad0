import type { ProblemCode } from "../diagnostics/problems.ts";
import type { FileState } from "../inventory/file-state.ts";

/** Where a path is that the agent does not keep: none of these is a state of a file. */
export type Whereabouts =
  | "outside the root"
  | "storage missing"
  | "storage unusable"
  | "not there"
  | "deleted by the agent"
  | "in the trash"
  | "a directory"
  | "a symlink"
  | "not a recording"
  | "not included"
  | "excluded"
  | "not seen yet";

/** Why a file is where it is, and what comes next. Whole sentences; null: there is nothing to say. */
export interface Explanation {
  readonly path: string;
  readonly state: FileState | Whereabouts;
  readonly why: string;
  /** The last try that failed, while it is still to be made good. */
  readonly lastAttempt: string | null;
  /** What happens next, and when. */
  readonly next: string;
  /** What a person can do about it. */
  readonly todo: string | null;
  /** Of the agent as a whole, that keep the file from going on. */
  readonly problems: readonly ProblemCode[];
}
