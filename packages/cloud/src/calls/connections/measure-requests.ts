import type { Context } from "hono";
import { routePath } from "hono/route";
import type { Deps } from "../context/context.ts";
import type { Env } from "./env.ts";

interface Measured {
  count(): void;
  observe(seconds: number): void;
}

/**
 * Counts answers by their operation as the contract writes it: `GET /v1/devices/{nameOrId}`. All requests without a route count as one
 * operation.
 */
export class MeasuredRequests {
  readonly #metrics: Deps["metrics"];
  /** There is one entry for each status of each route. Looking the labels up each time would take longer than counting. */
  readonly #known = new Map<string, Measured>();

  constructor(metrics: Deps["metrics"]) {
    this.#metrics = metrics;
  }

  note(c: Context<Env>, tookSeconds: number): void {
    const measured = this.#find(operationOf(c), c.res.status);
    measured.count();
    measured.observe(tookSeconds);
  }

  #find(operation: string, status: number): Measured {
    const name = `${status} ${operation}`;
    const found = this.#known.get(name);
    if (found) return found;
    const requests = this.#metrics.requests.labels({ operation, status });
    const seconds = this.#metrics.requestSeconds.labels({ operation });
    const made = { count: () => requests.inc(), observe: (value: number) => seconds.observe(value) };
    this.#known.set(name, made);
    return made;
  }
}

/** Returns the operation as the contract writes it. */
export function operationOf(c: Context<Env>): string {
  const path = c.get("path") ?? routePath(c).replace(/:(\w+)/g, "{$1}");
  return path.endsWith("*") ? "unmatched" : `${c.req.method} ${path}`;
}
