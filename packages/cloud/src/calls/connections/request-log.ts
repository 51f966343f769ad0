import type { Context } from "hono";
import type { Logger } from "pino";
import type { Env } from "./env.ts";

/** Logs one line for each request, without the query (links carry signatures there) and without headers. */
export function logRequest(c: Context<Env>, log: Logger, tookSeconds: number): void {
  if (!log.isLevelEnabled("debug")) return;
  const { method, path } = c.req;
  const tookMs = Math.round(tookSeconds * 1000);
  log.debug({ requestId: c.get("requestId"), method, path, status: c.res.status, tookMs }, "request");
}
