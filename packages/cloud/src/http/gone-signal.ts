import type { Context } from "hono";
import type { Env } from "./env.ts";

/** Aborted when the caller goes away before it was answered. The request's own signal costs a whole `Request` each time. */
export function goneSignal({ env: { outgoing } }: Context<Env>): AbortSignal {
  const gone = new AbortController();
  if (outgoing.destroyed) gone.abort();
  outgoing.once("close", () => {
    if (!outgoing.writableFinished) gone.abort();
  });
  return gone.signal;
}
