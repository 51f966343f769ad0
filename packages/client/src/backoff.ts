import { ApiCallError, NetworkError } from "./errors.ts";

export interface BackoffLimits {
  readonly firstMs: number;
  readonly capMs: number;
}

const defaultLimits: BackoffLimits = { firstMs: 1000, capMs: 5 * 60_000 };

/**
 * How long to wait before try number `attempt` + 1 (`attempt` counts the failures so far, from 1).
 * Exponential with full jitter; never sooner than the far side's `Retry-After`, never later than the cap.
 * `random` gives a number in [0, 1).
 */
export function retryDelayMs(
  failure: unknown,
  attempt: number,
  { random = Math.random, limits = defaultLimits }: { random?: () => number; limits?: BackoffLimits } = {},
): number {
  const ceilingMs = Math.min(limits.capMs, limits.firstMs * 2 ** Math.min(attempt - 1, 30));
  const askedMs = failure instanceof ApiCallError ? (failure.retryAfterMs ?? 0) : 0;
  // The jitter goes on top of Retry-After, or all callers that got the same time would come back together.
  return Math.min(limits.capMs, askedMs + Math.floor(random() * ceilingMs));
}

/** Whether the same call may succeed later without anybody changing it. */
export function isWorthRetrying(failure: unknown): boolean {
  if (failure instanceof NetworkError) return true;
  return (
    failure instanceof ApiCallError &&
    (failure.status === 429 || failure.status === 408 || failure.status >= 500 || failure.code === undefined)
  );
}
