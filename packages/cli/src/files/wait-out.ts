import { ApiCallError, isWorthRetrying, retryDelayMs } from "@downlink/client";
import { pause } from "../failures/pause.ts";

const MOST_FAILURES_IN_A_ROW = 8;
const backoff = { firstMs: 500, capMs: 30_000 };

/**
 * Waits before the next try of a transfer. Returns whether its link has expired. Throws the failure if trying again would be in vain.
 */
export async function waitOut(error: unknown, failures: number, signal: AbortSignal): Promise<boolean> {
  signal.throwIfAborted();
  if (failures > MOST_FAILURES_IN_A_ROW) throw error;
  if (error instanceof ApiCallError && error.code === "LinkExpired") return true;
  if (!isWorthRetrying(error)) throw error;
  await pause(retryDelayMs(error, failures, { limits: backoff }), signal);
  return false;
}
