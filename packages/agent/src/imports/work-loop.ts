import { ApiFailure, NetworkFailure } from "@downlink/client";
import { api, edgeLimits } from "@downlink/protocol";
import { type Bell, pause } from "../bell.ts";
import { problemOf } from "../cloud/describe-failure.ts";
import { type CloudSession, isLeaseTrouble } from "../cloud/session.ts";
import type { ProblemBoard } from "../problems.ts";
import type { WorkBoard } from "./work-board.ts";

export interface WorkContext {
  readonly session: CloudSession;
  readonly board: WorkBoard;
  readonly problems: ProblemBoard;
  readonly workBell: Bell;
  readonly deleteBell: Bell;
  readonly salvageBell: Bell;
}

const ANSWER_TIMEOUT_MS = (edgeLimits.longPollSeconds + 15) * 1000;
/** Between two answers that say the same, should the server not wait. */
const SAME_ANSWER_PAUSE_MS = 1000;

/** Keeps the board as the cloud wants it, by long poll, until aborted. */
export async function runWork(
  { session, board, problems, workBell, salvageBell, deleteBell }: WorkContext,
  signal: AbortSignal,
): Promise<void> {
  let etag: string | undefined;
  for (let attempt = 1; !signal.aborted; attempt++) {
    try {
      const startMs = performance.now();
      const input = { wait: session.longPollSeconds(), etag, maxRequests: edgeLimits.requestsPerAnswer };
      const answer = await session.call(api.edge.work, input, { signal, timeoutMs: ANSWER_TIMEOUT_MS });
      attempt = 0;
      problems.clear("Refused");
      if (answer.etag === etag) {
        if (performance.now() - startMs < SAME_ANSWER_PAUSE_MS) await pause(SAME_ANSWER_PAUSE_MS, signal);
        continue;
      }
      board.update(answer.work);
      etag = answer.etag;
      workBell.ring();
      deleteBell.ring();
      salvageBell.ring();
    } catch (failure) {
      if (signal.aborted) return;
      if (!(failure instanceof ApiFailure || failure instanceof NetworkFailure)) throw failure;
      if (problemOf(failure) === undefined && !isLeaseTrouble(failure))
        problems.raise("Refused", `work: ${failure.message}`);
      await session.waitToRetry(failure, attempt, signal);
    }
  }
}
