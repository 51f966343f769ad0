import type { Context, MiddlewareHandler } from "hono";
import { ApiError } from "../../core/errors.ts";
import type { CallRates, Rate } from "../../process/limits/call-rates.ts";
import { clientAddress, type Network } from "../../process/limits/client-address.ts";
import type { Env } from "./env.ts";

/** Throws `RateLimited` if the token made too many calls. Every answer says how many are left. */
export async function countCall(c: Context<Env>, rates: CallRates, tokenId: string): Promise<void> {
  hold(c, await rates.countCall(tokenId));
}

/** A failed authentication beyond the address's rate is answered 429, so that a client that guesses tokens learns nothing. */
export function limitFailures(rates: CallRates, proxies: readonly Network[]): MiddlewareHandler<Env> {
  return async (c, next) => {
    await next();
    if (!(c.error instanceof ApiError) || c.error.code !== "Unauthenticated") return;
    const rate = await rates.countFailure(addressOf(c, proxies));
    if (rate.left * 2 < rate.most) hold(c, rate);
  };
}

/** Returns the address of the client, as it is counted. */
export function addressOf(c: Context<Env>, proxies: readonly Network[]): string {
  return clientAddress(c.env.incoming.socket.remoteAddress, c.req.header("x-forwarded-for"), proxies);
}

/** Sets headers as in draft-ietf-httpapi-ratelimit-headers-10. */
function hold(c: Context<Env>, { name, most, windowSeconds, left, waitSeconds, isExceeded }: Rate): void {
  const { outgoing } = c.env; // Hono's own headers would take longer than the count
  outgoing.setHeader("RateLimit-Policy", `"${name}";q=${most};w=${windowSeconds}`);
  outgoing.setHeader("RateLimit", `"${name}";r=${left};t=${waitSeconds}`);
  if (!isExceeded) return;
  const message = `more than ${most} calls in ${windowSeconds} s; wait ${waitSeconds} s`;
  throw new ApiError("RateLimited", message, { retryAfterSeconds: waitSeconds });
}
