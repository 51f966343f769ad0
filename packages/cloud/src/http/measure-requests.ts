import type { Context, MiddlewareHandler } from "hono";
import { routePath } from "hono/route";
import type { Deps } from "../context/context.ts";
import type { Env } from "./env.ts";

interface Measured {
  count(): void;
  observe(seconds: number): void;
}

/** Counts each answer by its operation as the contract writes it: `GET /v1/devices/{nameOrId}`. What no route takes is one of them. */
export function measureRequests({ metrics, stopping }: Pick<Deps, "metrics" | "stopping">): MiddlewareHandler<Env> {
  const known = new Map<string, Measured>();
  return async (c, next) => {
    if (stopping.aborted) c.header("Connection", "close"); // the next call is for another process
    const startedMs = performance.now();
    await next();
    const measured = measuredOf(operationOf(c), c.res.status);
    measured.count();
    measured.observe((performance.now() - startedMs) / 1000);
  };

  /** There are as many as routes have statuses. To look the labels up each time takes longer than to count. */
  function measuredOf(operation: string, status: number): Measured {
    const name = `${status} ${operation}`;
    const found = known.get(name);
    if (found) return found;
    const requests = metrics.requests.labels({ operation, status });
    const seconds = metrics.requestSeconds.labels({ operation });
    const made = { count: () => requests.inc(), observe: (value: number) => seconds.observe(value) };
    known.set(name, made);
    return made;
  }
}

function operationOf(c: Context<Env>): string {
  const path = c.get("path") ?? routePath(c).replace(/:(\w+)/g, "{$1}");
  return path.endsWith("*") ? "unmatched" : `${c.req.method} ${path}`;
}
