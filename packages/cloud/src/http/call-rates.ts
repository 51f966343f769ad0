import type { Context, MiddlewareHandler } from "hono";
import { RateLimiterMemory } from "rate-limiter-flexible";
import { clientAddress, type Network } from "./client-address.ts";
import type { Env } from "./env.ts";
import { ApiError } from "./errors.ts";

export interface RateLimits {
  /** Of one token, in this process. */
  readonly callsPerMinute: number;
  /** Calls of one address that are refused for their token. Those with a valid one are not counted and not refused. */
  readonly failuresPerMinute: number;
}

export const rateLimits: RateLimits = { callsPerMinute: 60_000, failuresPerMinute: 6000 };

/** Short ones, so that nobody waits a minute for having been fast. */
const WINDOWS_PER_MINUTE = 6;
const WINDOW_SECONDS = 60 / WINDOWS_PER_MINUTE;

export class CallRates {
  readonly #calls: RateLimiterMemory;
  readonly #failures: RateLimiterMemory;

  constructor({ callsPerMinute, failuresPerMinute }: RateLimits) {
    this.#calls = perWindow(callsPerMinute);
    this.#failures = perWindow(failuresPerMinute);
  }

  /** Throws `RateLimited` where the token had enough. Its headers come with that, and once less than half is left. */
  async countCall(c: Context<Env>, tokenId: string): Promise<void> {
    await count(c, this.#calls, { name: "token", key: tokenId });
  }

  /** A failure of authentication beyond the address's rate is answered 429, so that who guesses learns nothing. */
  limitFailures(proxies: readonly Network[]): MiddlewareHandler<Env> {
    return async (c, next) => {
      await next();
      if (!(c.error instanceof ApiError) || c.error.code !== "Unauthenticated") return;
      const { remoteAddress } = c.env.incoming.socket;
      const address = clientAddress(remoteAddress, c.req.header("x-forwarded-for"), proxies);
      await count(c, this.#failures, { name: "failures", key: address });
    };
  }
}

function perWindow(perMinute: number): RateLimiterMemory {
  return new RateLimiterMemory({ points: Math.ceil(perMinute / WINDOWS_PER_MINUTE), duration: WINDOW_SECONDS });
}

/** Headers as in draft-ietf-httpapi-ratelimit-headers-10. */
async function count(
  c: Context<Env>,
  limiter: RateLimiterMemory,
  { name, key }: { name: string; key: string },
): Promise<void> {
  const used = await limiter.penalty(key);
  if (used.remainingPoints * 2 >= limiter.points) return;
  const seconds = Math.max(1, Math.ceil(used.msBeforeNext / 1000));
  c.header("RateLimit-Policy", `"${name}";q=${limiter.points};w=${WINDOW_SECONDS}`);
  c.header("RateLimit", `"${name}";r=${used.remainingPoints};t=${seconds}`);
  if (used.consumedPoints <= limiter.points) return;
  const message = `more than ${limiter.points} calls in ${WINDOW_SECONDS} s; wait ${seconds} s`;
  throw new ApiError("RateLimited", message, { retryAfterSeconds: seconds });
}
