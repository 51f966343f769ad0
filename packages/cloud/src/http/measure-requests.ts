import type { Context } from "hono";
import { routePath } from "hono/route";
import type { Deps } from "../context/context.ts";
import type { Env } from "./env.ts";

interface Measured {
  count(): void;
  observe(seconds: number): void;
}

/** Counts answers by their operation as the contract writes it: `GET /v1/devices/{nameOrId}`. What no route takes is one of them. */
export class MeasuredRequests {
  readonly #metrics: Deps["metrics"];
  /** There are as many as routes have statuses. To look the labels up each time takes longer than to count. */
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

function operationOf(c: Context<Env>): string {
  const path = c.get("path") ?? routePath(c).replace(/:(\w+)/g, "{$1}");
  return path.endsWith("*") ? "unmatched" : `${c.req.method} ${path}`;
}
