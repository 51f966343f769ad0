import type { ImportRequestModel } from "../../db/generated/models.ts";
import { withTransaction } from "../../db/transaction.ts";
import type { ImportRequestState } from "../../import-life/import-request-state.ts";
import { TakenOverError } from "./finish-import.ts";
import type { IngestDeps } from "./ingest-deps.ts";

const BEAT_MS = 5_000;
/** After four lost heartbeats the owner of the attempt is considered dead. */
export const LIVE_NS = 20n * 1_000_000_000n;
/** A job that finds another attempt at work waits this long. */
export const LOOK_AGAIN_SECONDS = 5;

const MAX_DELAY_SECONDS = 300;

interface Heart {
  /** Aborts with TakenOverError. */
  readonly stopped: AbortSignal;
  stop(): void;
}

/**
 * Shows that an attempt is alive, so that no process begins another one; `show` returns false once another one has begun, or the request
 * has ended.
 */
export function startHeartbeat(
  deps: Pick<IngestDeps, "clock" | "log">,
  requestId: string,
  show: (nowNs: bigint) => Promise<boolean>,
): Heart {
  const stopping = new AbortController();
  const showOrStop = async () => {
    if (!(await show(deps.clock.nowNs()))) stopping.abort(new TakenOverError(requestId));
  };
  const warn = (error: Error) => deps.log.warn({ err: error, requestId }, "a heartbeat was lost");
  const timer = setInterval(() => void showOrStop().catch(warn), BEAT_MS);
  return { stopped: stopping.signal, stop: () => clearInterval(timer) };
}

interface Postponed {
  readonly error: Error;
  /** The states in which the attempt still owns the request. */
  readonly states: readonly ImportRequestState[];
  readonly job: "ingest" | "ingest-large" | "salvage";
}

/** A temporary failure: the request is tried again later. */
export async function postpone(
  deps: IngestDeps,
  request: ImportRequestModel,
  { error, states, job }: Postponed,
): Promise<void> {
  const { id, orgId, attempts } = request;
  const delaySeconds = Math.ceil(delaySecondsOf(request));
  const nowNs = deps.clock.nowNs();
  await withTransaction(deps.db, async (tx) => {
    const { count } = await tx.importRequest.updateMany({
      where: { id, attempts, state: { in: [...states] } },
      data: { nextAttemptAtNs: nowNs + BigInt(delaySeconds) * 1_000_000_000n, updatedAtNs: nowNs },
    });
    if (count === 1) await deps.jobs.enqueue(tx, { name: job, data: { orgId, requestId: id }, delaySeconds });
  });
  deps.log.error({ err: error, requestId: id, attempt: attempts }, `${job} postponed`);
}

/** The delay grows with each attempt since the import was requested last. */
function delaySecondsOf({ attempts, attemptsBefore }: ImportRequestModel): number {
  const tries = Math.min(attempts - attemptsBefore, 16);
  return Math.min(MAX_DELAY_SECONDS, 2 ** tries) * (0.5 + Math.random() / 2);
}
