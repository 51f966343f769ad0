import type { Context } from "hono";
import type { Env } from "./env.ts";

/**
 * Returns a signal that is aborted when the caller goes away before it was answered. The request's own signal would cost a whole `Request`
 * each time.
 */
export function newGoneSignal({ env: { outgoing } }: Context<Env>): AbortSignal {
  const gone = new AbortController();
  if (outgoing.destroyed) gone.abort();
  outgoing.once("close", () => {
    if (!outgoing.writableFinished) gone.abort();
  });
  return gone.signal;
}

/** Says whether the caller went away before it was answered. */
export function hasGone({ env: { outgoing } }: Context<Env>): boolean {
  return outgoing.destroyed && !outgoing.writableFinished;
}
