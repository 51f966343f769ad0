import type { MiddlewareHandler } from "hono";
import type { Logger } from "pino";
import type { Env } from "./env.ts";

/** One line a request; no query (links carry signatures there) and no headers. */
export function requestLog(log: Logger): MiddlewareHandler<Env> {
  return async (c, next) => {
    if (!log.isLevelEnabled("debug")) return next();
    const startedMs = performance.now();
    await next();
    const tookMs = Math.round(performance.now() - startedMs);
    log.debug(
      { requestId: c.get("requestId"), method: c.req.method, path: c.req.path, status: c.res.status, tookMs },
      "request",
    );
  };
}
