import type { MiddlewareHandler } from "hono";
import type { Deps } from "../context/context.ts";
import type { Env } from "./env.ts";
import { MeasuredRequests } from "./measure-requests.ts";
import { nameRequest } from "./request-id.ts";
import { logRequest } from "./request-log.ts";
import { traceRequest } from "./trace-request.ts";

type FrameDeps = Pick<Deps, "log" | "metrics" | "tracing" | "stopping" | "limits">;

/**
 * Everything that happens around each request. It is one function, because each layer of middleware costs a small request a twentieth of
 * its time.
 */
export function frameRequests({ log, metrics, tracing, stopping, limits }: FrameDeps): MiddlewareHandler<Env> {
  const measured = new MeasuredRequests(metrics);
  return async (c, next) => {
    const startedMs = performance.now();
    nameRequest(c);
    c.set("bodyPatience", limits.body);
    if (stopping.aborted) c.header("Connection", "close"); // the client's next call should go to another process
    await (tracing.isOn ? traceRequest(tracing, c, next) : next());
    const tookSeconds = (performance.now() - startedMs) / 1000;
    measured.note(c, tookSeconds);
    logRequest(c, log, tookSeconds);
  };
}
