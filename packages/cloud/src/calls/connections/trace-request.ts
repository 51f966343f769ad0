import type { Tracing } from "@downlink/tracing";
import type { Context, Next } from "hono";
import type { Env } from "./env.ts";
import { operationOf } from "./measure-requests.ts";

const SERVER_FAULT = 500;

/** Answers the request within a span, of the caller's trace if there is one. Its query and its path's values are left out, because some are secrets. */
export function traceRequest(tracing: Tracing, c: Context<Env>, next: Next): Promise<void> {
  const parent = c.req.header("traceparent") ?? "";
  return tracing.inSpan({ name: c.req.method, kind: "server", parent }, async (span) => {
    await next();
    const { status } = c.res;
    span.rename(operationOf(c));
    span.note({ "http.response.status_code": status, "downlink.request_id": c.get("requestId") });
    if (status >= SERVER_FAULT) span.fail(String(status));
  });
}
