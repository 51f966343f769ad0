import type { ProblemCode } from "../diagnostics/problems.ts";
import type { FileState } from "../inventory/file-state.ts";

/** Where a path is that the agent does not keep. None of these is a state of a file. */
export type Whereabouts =
  | "outside the root"
  | "storage missing"
  | "storage unusable"
  | "not there"
  | "deleted by the agent"
  | "in the trash"
  | "a directory"
  | "a symlink"
  | "behind a symlink"
  | "in an unreadable folder"
  | "not a recording"
  | "not included"
  | "excluded"
  | "being recorded"
  | "not seen yet";

/** Why a file is in its state, and what comes next, in whole sentences; null where there is nothing to say. */
export interface Explanation {
  readonly path: string;
  readonly state: FileState | Whereabouts;
  readonly why: string;
  /** The last failed try, while another one follows. */
  readonly lastAttempt: string | null;
  /** The next step, and when it comes. */
  readonly next: string;
  /** The step that a person can take; null where there is none. */
  readonly todo: string | null;
  /** Problems of the agent as a whole that stop the file. */
  readonly problems: readonly ProblemCode[];
}
