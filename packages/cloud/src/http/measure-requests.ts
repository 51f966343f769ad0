import type { MiddlewareHandler } from "hono";
import { routePath } from "hono/route";
import type { Deps } from "../context.ts";
import type { Env } from "./env.ts";

/** Counts each answer by its operation as the contract writes it: `GET /v1/devices/{nameOrId}`. What no route takes is one of them. */
export function measureRequests({ metrics, stopping }: Pick<Deps, "metrics" | "stopping">): MiddlewareHandler<Env> {
  return async (c, next) => {
    if (stopping.aborted) c.header("Connection", "close"); // the next call is for another process
    const startedMs = performance.now();
    await next();
    const path = routePath(c);
    const operation = path.endsWith("*") ? "unmatched" : `${c.req.method} ${path.replace(/:(\w+)/g, "{$1}")}`;
    metrics.requests.inc({ operation, status: c.res.status });
    metrics.requestSeconds.observe({ operation }, (performance.now() - startedMs) / 1000);
  };
}
