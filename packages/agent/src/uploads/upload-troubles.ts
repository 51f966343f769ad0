import { problemOf, roomTroubles } from "../cloud/describe-failure.ts";
import type { ProblemBoard } from "../diagnostics/problems.ts";
import { classifyFailure } from "./classify-failure.ts";
import type { UploadMemories } from "./upload-memories.ts";

/** Says what keeps uploads from coming through, for as long as it does. */
export interface UploadTroubles {
  /** Since the start. */
  failedTries(): number;
  /** A part became durable: there is room, and the upload gets on. */
  notePart(requestId: string): void;
  notePartFailure(requestId: string, path: string, failure: unknown): void;
  /** A try has failed; the next one has to wait. `path` where it is known which file that was. */
  noteFailure(requestId: string, failure: unknown, path?: string): void;
  /** Shows what is remembered by now. */
  show(): void;
}

export function createUploadTroubles(
  memories: Pick<UploadMemories, "rest" | "complain" | "complaint">,
  problems: ProblemBoard,
): UploadTroubles {
  let failedTries = 0;
  const show = () => {
    const text = memories.complaint();
    if (text === undefined) problems.clear("UploadFailing", ...roomTroubles);
    else problems.raise("UploadFailing", text);
  };
  return {
    failedTries: () => failedTries,
    notePart(requestId) {
      problems.clear(...roomTroubles);
      memories.complain(requestId, undefined);
      show();
    },
    notePartFailure(requestId, path, failure) {
      const { message } = failure as Error;
      const problem = problemOf(failure);
      if (problem && roomTroubles.includes(problem)) problems.raise(problem, message);
      memories.complain(requestId, `${path}: ${message}`);
      show();
    },
    noteFailure(requestId, failure, path) {
      failedTries += 1;
      memories.rest(requestId, failure, path);
      if (path !== undefined && classifyFailure(failure) === "again")
        memories.complain(requestId, `${path}: ${(failure as Error).message}`);
      show();
    },
    show,
  };
}
