import type { MiddlewareHandler } from "hono";
import type { Deps } from "../context/context.ts";
import type { Env } from "./env.ts";
import { MeasuredRequests } from "./measure-requests.ts";
import { nameRequest } from "./request-id.ts";
import { logRequest } from "./request-log.ts";

type FrameDeps = Pick<Deps, "log" | "metrics" | "stopping" | "limits">;

/** What is done around every request. In one piece, because each layer of middleware costs a small request a twentieth of all. */
export function frameRequests({ log, metrics, stopping, limits }: FrameDeps): MiddlewareHandler<Env> {
  const measured = new MeasuredRequests(metrics);
  return async (c, next) => {
    const startedMs = performance.now();
    nameRequest(c);
    c.set("bodyPatience", limits.body);
    if (stopping.aborted) c.header("Connection", "close"); // the next call is for another process
    await next();
    const tookSeconds = (performance.now() - startedMs) / 1000;
    measured.note(c, tookSeconds);
    logRequest(c, log, tookSeconds);
  };
}
