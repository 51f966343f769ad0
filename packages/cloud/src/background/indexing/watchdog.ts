// Time is counted in ticks of the waiting process, so that a process that was stopped or starved does not blame the file.

import { TooHeavyError } from "./indexing-errors.ts";
import type { IndexingLimits } from "./indexing-limits.ts";

/** Distinguishes a thread that computes for too long from a store that does not answer. */
export interface Watchdog extends Disposable {
  /** The thread requested bytes, or passed some on. */
  asked(): void;
  /** The thread has got the bytes. */
  answered(): void;
  /** The thread waits for others, for any time. */
  paused(): void;
  resumed(): void;
}

interface Watched {
  readonly sizeBytes: number;
  readonly limits: Pick<IndexingLimits, "tickMs" | "silentMs" | "computeMs" | "computeMsPerGigabyte" | "readMs">;
  /** Called once, with {@link TooHeavyError} if the file is at fault. */
  readonly onExpired: (error: Error) => void;
}

const GIGABYTE = 1e9;
const MINUTE_MS = 60_000;

/** Counts ticks, not time: the ticks of a process that was held up come late and count once. */
export function watch({ sizeBytes, limits, onExpired }: Watched): Watchdog {
  const computeMs = limits.computeMs + (sizeBytes / GIGABYTE) * limits.computeMsPerGigabyte;
  let unanswered = 0;
  let pauses = 0;
  let stillMs = 0;
  let computedMs = 0;
  const timer = setInterval(() => {
    if (pauses > 0) return;
    stillMs += limits.tickMs;
    if (unanswered === 0) computedMs += limits.tickMs;
    const error = findFault();
    if (!error) return;
    clearInterval(timer);
    onExpired(error);
  }, limits.tickMs);

  const findFault = () => {
    if (unanswered > 0)
      return stillMs < limits.readMs
        ? undefined
        : new Error(`the store left a read unanswered for ${minutes(stillMs)}`);
    return stillMs < limits.silentMs && computedMs < computeMs
      ? undefined
      : newTooSlowError(Math.max(stillMs, computedMs));
  };

  return {
    asked() {
      unanswered += 1;
      stillMs = 0;
    },
    answered() {
      unanswered -= 1;
      stillMs = 0;
    },
    paused() {
      pauses += 1;
    },
    resumed() {
      pauses -= 1;
      stillMs = 0;
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

function newTooSlowError(ms: number): TooHeavyError {
  return new TooHeavyError(
    `indexing the file takes longer than a file of its size may, and was ended after ${minutes(ms)} of computing; ` +
      "record with another compression, or split it",
  );
}

function minutes(ms: number): string {
  return `${Math.ceil(ms / MINUTE_MS)} min`;
}
