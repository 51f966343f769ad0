import { RateLimiterMemory } from "rate-limiter-flexible";
import { ApiError } from "../../core/errors.ts";

const MOST = 20;
const WINDOW_SECONDS = 600;

/** Counts, in this process, the actions that a client may take only so often within ten minutes. */
export class Tries {
  readonly #counted = new RateLimiterMemory({ points: MOST, duration: WINDOW_SECONDS });

  /** Throws `RateLimited` if as many were counted as may be. */
  async admit(who: string): Promise<void> {
    const counted = await this.#counted.get(who);
    if (counted === null || counted.consumedPoints < MOST) return;
    const retryAfterSeconds = Math.max(1, Math.ceil(counted.msBeforeNext / 1000));
    throw new ApiError("RateLimited", `too many tries; wait ${retryAfterSeconds} s`, { retryAfterSeconds });
  }

  async note(who: string): Promise<void> {
    await this.#counted.penalty(who);
  }
}
