import type { Context } from "hono";
import type { LinkRequest } from "../blobs/signed-link.ts";
import type { Clock, Deps } from "../context.ts";
import type { Env } from "../http/env.ts";

/** What the data plane needs: no database, so that it can run in another process or at another site. */
export type DataPlaneDeps = Pick<Deps, "blobs" | "signer" | "clock" | "log">;

/** A request as its link is verified. */
export function linkRequest(c: Context<Env>, clock: Clock): LinkRequest {
  const { pathname: path, searchParams: query } = new URL(c.req.url);
  return { method: c.req.method, path, query, nowMs: Number(clock.nowNs() / 1_000_000n) };
}

/** What to call when bytes that were promised do not all come. */
export function logBreak(c: Context<Env>, { log }: Pick<Deps, "log">): (error: unknown) => void {
  return (error) => log.error({ err: error, requestId: c.get("requestId") }, "a download broke off");
}
