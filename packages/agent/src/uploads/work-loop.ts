import { ApiFailure, NetworkFailure } from "@downlink/client";
import { api, edgeLimits } from "@downlink/protocol";
import { problemOf } from "../cloud/describe-failure.ts";
import { type CloudSession, isLeaseTrouble } from "../cloud/session.ts";
import type { WorkBoard } from "../cloud/work-board.ts";
import type { ProblemBoard } from "../diagnostics/problems.ts";
import { type Bell, pause } from "../loops/bell.ts";
import type { Turns } from "../loops/turns.ts";

export interface WorkContext {
  readonly session: CloudSession;
  readonly board: WorkBoard;
  readonly problems: ProblemBoard;
  readonly workBell: Bell;
  readonly deleteBell: Bell;
  readonly salvageBell: Bell;
  /** One is the poll's: who has something to say that is not urgent takes the next. */
  readonly restTurns: Turns;
}

/** Beyond the time that it was asked to wait. */
const ANSWER_TIMEOUT_MS = 15_000;
/** Between two answers that say the same, should the server not wait. */
const SAME_ANSWER_PAUSE_MS = 1000;

/** Keeps the board as the cloud wants it, by long poll, until aborted. */
export async function runWork(ctx: WorkContext, signal: AbortSignal): Promise<void> {
  const { session, board, problems, workBell, salvageBell, deleteBell } = ctx;
  let etag: string | undefined;
  for (let attempt = 1; !signal.aborted; attempt++) {
    try {
      const startMs = performance.now();
      const answer = await poll(ctx, etag, signal);
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

async function poll({ session, restTurns }: WorkContext, etag: string | undefined, signal: AbortSignal) {
  using _turn = await restTurns.take();
  const wait = session.longPollSeconds();
  const input = { wait, etag, maxRequests: edgeLimits.requestsPerAnswer };
  return await session.call(api.edge.work, input, { signal, timeoutMs: wait * 1000 + ANSWER_TIMEOUT_MS });
}
