import { api, type EdgeWork, edgeLimits } from "@downlink/protocol";
import { problemOf } from "../cloud/describe-failure.ts";
import { repeatWithRetries } from "../cloud/retry-loop.ts";
import { type CloudSession, isLeaseTrouble } from "../cloud/session.ts";
import type { WorkBoard } from "../cloud/work-board.ts";
import type { ProblemBoard } from "../diagnostics/problems.ts";
import type { Turns } from "../loops/turns.ts";
import { pause, type WakeSignal } from "../loops/wake-signal.ts";

export interface WorkContext {
  readonly session: CloudSession;
  readonly board: WorkBoard;
  readonly problems: ProblemBoard;
  readonly workSignal: WakeSignal;
  readonly deleteSignal: WakeSignal;
  readonly salvageSignal: WakeSignal;
  readonly cutSignal: WakeSignal;
  /** The poll takes one turn; calls that are not urgent take the next one, so that they use the same connection. */
  readonly restTurns: Turns;
}

/** How long an answer may take beyond the time that the cloud may wait. */
const ANSWER_TIMEOUT_MS = 15_000;
/** The pause after an answer without news, in case the server does not wait. */
const SAME_ANSWER_PAUSE_MS = 1000;

/** Long-polls the control plane until aborted, and keeps on the board what it wants. */
export async function runWork(ctx: WorkContext, signal: AbortSignal): Promise<void> {
  const { session, problems } = ctx;
  let etag: string | undefined;
  const takeAnswer = async () => {
    const startMs = performance.now();
    const answer = await poll(ctx, etag, signal);
    problems.clear("Refused");
    if (answer.etag !== etag) publish(ctx, answer.work);
    else if (performance.now() - startMs < SAME_ANSWER_PAUSE_MS) await pause(SAME_ANSWER_PAUSE_MS, signal);
    etag = answer.etag;
  };
  await repeatWithRetries(takeAnswer, { session, signal, onFailure: (failure) => showRefusal(problems, failure) });
}

/** Puts on the board what the control plane wants now, and wakes the loops that carry it out. */
function publish({ board, workSignal, deleteSignal, salvageSignal, cutSignal }: WorkContext, work: EdgeWork): void {
  board.update(work);
  for (const wakeSignal of [workSignal, deleteSignal, salvageSignal, cutSignal]) wakeSignal.notify();
}

/** A failure that has its own problem, or that a new lease solves, is shown elsewhere. */
function showRefusal(problems: ProblemBoard, failure: Error): void {
  if (problemOf(failure) === undefined && !isLeaseTrouble(failure))
    problems.raise("Refused", `work: ${failure.message}`);
}

async function poll({ session, restTurns }: WorkContext, etag: string | undefined, signal: AbortSignal) {
  using _turn = await restTurns.take();
  const wait = session.longPollSeconds();
  const input = { wait, etag, maxRequests: edgeLimits.requestsPerAnswer };
  return await session.call(api.edge.work, input, { signal, timeoutMs: wait * 1000 + ANSWER_TIMEOUT_MS });
}
