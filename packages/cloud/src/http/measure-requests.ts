import type { MiddlewareHandler } from "hono";
import { routePath } from "hono/route";
import type { Deps } from "../context/context.ts";
import type { Env } from "./env.ts";

/** Counts each answer by its operation as the contract writes it: `GET /v1/devices/{nameOrId}`. What no route takes is one of them. */
export function measureRequests({ metrics, stopping }: Pick<Deps, "metrics" | "stopping">): MiddlewareHandler<Env> {
  const named = new Map<string, string>();
  return async (c, next) => {
    if (stopping.aborted) c.header("Connection", "close"); // the next call is for another process
    const startedMs = performance.now();
    await next();
    const path = routePath(c);
    const operation = path.endsWith("*") ? "unmatched" : `${c.req.method} ${templateOf(path)}`;
    metrics.requests.inc({ operation, status: c.res.status });
    metrics.requestSeconds.observe({ operation }, (performance.now() - startedMs) / 1000);
  };

  /** There are as many as routes. */
  function templateOf(path: string): string {
    const known = named.get(path) ?? path.replace(/:(\w+)/g, "{$1}");
    named.set(path, known);
    return known;
  }
}
