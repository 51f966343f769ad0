import { type CloudFailure, isCloudFailure } from "./describe-failure.ts";
import type { CloudSession } from "./session.ts";

export interface RetryOptions {
  readonly session: Pick<CloudSession, "waitToRetry">;
  readonly signal: AbortSignal;
  /** Is called before the pause that follows a failed step. */
  readonly onFailure?: (failure: CloudFailure) => void;
}

/**
 * Repeats a step until the signal is aborted. A step that fails because of the control plane or the way to it is repeated
 * after a pause, which grows with each failure in a row. Any other error ends the loop.
 */
export async function repeatWithRetries(step: () => Promise<void>, options: RetryOptions): Promise<void> {
  const { session, signal, onFailure } = options;
  let failures = 0;
  while (!signal.aborted) {
    try {
      await step();
      failures = 0;
    } catch (failure) {
      if (signal.aborted) return;
      if (!isCloudFailure(failure)) throw failure;
      onFailure?.(failure);
      failures += 1;
      await session.waitToRetry(failure, failures, signal);
    }
  }
}
