import { ErrorBody } from "@downlink/protocol";
import { ApiCallError } from "./errors.ts";
import type { TransportResponse } from "./transport.ts";

/** Makes an error of an answer that is no success. */
export function parseFailure(response: TransportResponse): ApiCallError {
  const facts = {
    status: response.status,
    requestId: response.headers.get("x-request-id"),
    retryAfterMs: parseRetryAfterMs(response.headers.get("retry-after")),
  };
  const body = parseErrorBody(response);
  if (!body) return new ApiCallError({ ...facts, message: describeForeignAnswer(response) });
  return new ApiCallError({ ...facts, message: body.error, code: body.code, details: body.details });
}

/** Describes an answer that our service would not give. */
export function describeForeignAnswer({ status, headers }: TransportResponse): string {
  const type = headers.get("content-type")?.split(";")[0] ?? "no content type";
  return `the answer (${status}, ${type}) is not from a Downlink server; perhaps a proxy or a captive portal stands in between, or the URL is wrong`;
}

function parseErrorBody({ headers, body }: TransportResponse): ErrorBody | undefined {
  if (!headers.get("content-type")?.includes("json")) return undefined;
  const parsed = ErrorBody.safeParse(parseJson(body));
  return parsed.success ? parsed.data : undefined;
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The header holds seconds or a date. */
function parseRetryAfterMs(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d+$/.test(text.trim())) return Number(text) * 1000;
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - Date.now());
}
