import type { Context } from "hono";
import type { Env } from "./env.ts";

/** The caller went away before it was answered, which is no fault of the server. */
export class CallerGoneError extends Error {
  constructor() {
    super("the caller went away");
    this.name = "CallerGoneError";
  }
}

/**
 * Returns a signal that is aborted with a {@link CallerGoneError} when the caller goes away before it was answered. The request's own signal
 * would cost a whole `Request` each time.
 */
export function newGoneSignal({ env: { outgoing } }: Context<Env>): AbortSignal {
  const gone = new AbortController();
  if (outgoing.destroyed) gone.abort(new CallerGoneError());
  outgoing.once("close", () => {
    if (!outgoing.writableFinished) gone.abort(new CallerGoneError());
  });
  return gone.signal;
}

/** Says whether an error only says that the caller went away; a wait that is broken off may have that as its cause. */
export function isCallerGone(error: Error): boolean {
  return error instanceof CallerGoneError || error.cause instanceof CallerGoneError;
}

/** Says whether the caller went away before it was answered. */
export function hasGone({ env: { outgoing } }: Context<Env>): boolean {
  return outgoing.destroyed && !outgoing.writableFinished;
}
