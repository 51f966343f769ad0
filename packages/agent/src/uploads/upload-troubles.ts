import { problemOf, roomTroubles } from "../cloud/describe-failure.ts";
import type { ProblemBoard } from "../diagnostics/problems.ts";
import { classifyFailure } from "./classify-failure.ts";
import type { UploadMemories } from "./upload-memories.ts";

/** Shows what keeps uploads from succeeding, for as long as it does. */
export interface UploadTroubles {
  /** The number of failed tries since the start. */
  failedTries(): number;
  /** Notes that a part became durable: there is room, and the upload makes progress. */
  notePart(requestId: string): void;
  notePartFailure(requestId: string, path: string, failure: unknown): void;
  /** Notes a failed try; the next one has to wait. `path` is given where the file is known. */
  noteFailure(requestId: string, failure: unknown, path?: string): void;
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
