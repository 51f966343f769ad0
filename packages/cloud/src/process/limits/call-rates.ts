// Failures delay only failures: one bad token behind the address of a fleet must not lock the fleet out.

import { RateLimiterMemory } from "rate-limiter-flexible";
import type { RateLimits } from "./limits.ts";

/** The windows are short, so that a client that was too fast does not wait for a minute. */
const WINDOWS_PER_MINUTE = 6;
const WINDOW_SECONDS = 60 / WINDOWS_PER_MINUTE;

/** How much of a window's allowance is used up. */
export interface Rate {
  readonly name: "token" | "failures";
  readonly most: number;
  readonly windowSeconds: number;
  readonly left: number;
  /** The time until the window ends. */
  readonly waitSeconds: number;
  readonly isExceeded: boolean;
}

/** Counts, in this process, how often a token calls and how often an address fails. */
export class CallRates {
  readonly #calls: RateLimiterMemory;
  readonly #failures: RateLimiterMemory;

  constructor({ callsPerMinute, failuresPerMinute }: RateLimits) {
    this.#calls = newWindowLimiter(callsPerMinute);
    this.#failures = newWindowLimiter(failuresPerMinute);
  }

  countCall(tokenId: string): Promise<Rate> {
    return count(this.#calls, "token", tokenId);
  }

  countFailure(address: string): Promise<Rate> {
    return count(this.#failures, "failures", address);
  }
}

function newWindowLimiter(perMinute: number): RateLimiterMemory {
  return new RateLimiterMemory({ points: Math.ceil(perMinute / WINDOWS_PER_MINUTE), duration: WINDOW_SECONDS });
}

async function count(limiter: RateLimiterMemory, name: Rate["name"], key: string): Promise<Rate> {
  const used = await limiter.penalty(key);
  return {
    name,
    most: limiter.points,
    windowSeconds: WINDOW_SECONDS,
    left: used.remainingPoints,
    waitSeconds: Math.max(1, Math.ceil(used.msBeforeNext / 1000)),
    isExceeded: used.consumedPoints > limiter.points,
  };
}
