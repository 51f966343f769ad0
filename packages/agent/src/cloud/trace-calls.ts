import type { Transport } from "@downlink/client";
import type { Tracing } from "@downlink/tracing";

/** Failures are answered with this status, or a higher one. */
const FAILURE = 400;

/**
 * Returns the same transport, whose calls are spans of the upload that makes them. Polls and heartbeats, which come all day, are not
 * traced.
 */
export function traceCalls(transport: Transport, tracing: Tracing): Transport {
  if (!tracing.isOn) return transport;
  return (request) => {
    if (tracing.traceparent() === undefined) return transport(request);
    return tracing.inSpan({ name: `${request.method} ${request.path ?? ""}`, kind: "client" }, async (span) => {
      const response = await transport({ ...request, headers: { ...request.headers, ...traceHeaders(tracing) } });
      span.note({ "http.response.status_code": response.status });
      if (response.status >= FAILURE) span.fail(String(response.status));
      return response;
    });
  };
}

/** Returns the header by which the far side continues the trace. */
export function traceHeaders(tracing: Tracing): Readonly<Record<string, string>> {
  const traceparent = tracing.traceparent();
  return traceparent === undefined ? {} : { traceparent };
}
