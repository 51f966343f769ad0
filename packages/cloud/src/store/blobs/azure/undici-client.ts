import type { HttpOperationResponse, IHttpClient, WebResource } from "@azure/storage-blob";
import { RestError } from "@azure/storage-blob";
import { Agent, type Dispatcher, request as sendByUndici } from "undici";

export interface ClientLimits {
  readonly connectMs: number;
  /** How long the service may be silent. */
  readonly silenceMs: number;
  readonly maxConnections: number;
}

const BUFFERED_BYTES = 256 * 1024;

/**
 * Returns what sends the requests that the SDK has signed. The SDK's own client would wait for a silent service for ever, and takes more of
 * the processor for what it receives.
 */
export function openUndiciClient({ connectMs, silenceMs, maxConnections }: ClientLimits): IHttpClient & Disposable {
  const dispatcher = new Agent({
    allowH2: false,
    connections: maxConnections,
    connect: { timeout: connectMs },
    headersTimeout: silenceMs,
    bodyTimeout: silenceMs,
  });
  return {
    sendRequest: (request) => send(dispatcher, request),
    [Symbol.dispose]: () => void dispatcher.destroy(),
  };
}

async function send(dispatcher: Dispatcher, request: WebResource): Promise<HttpOperationResponse> {
  const signal = request.abortSignal as AbortSignal | undefined;
  try {
    const { statusCode, headers, body } = await sendByUndici(request.url, {
      dispatcher,
      method: request.method,
      headers: request.headers.toJson({ preserveCase: true }),
      body: (request.body as Buffer | string | undefined) ?? null,
      highWaterMark: BUFFERED_BYTES,
      ...(signal && { signal }),
    });
    const answer = { request, status: statusCode, headers: headersOf(request, headers) };
    if (request.streamResponseStatusCodes?.has(statusCode)) return { ...answer, readableStreamBody: body };
    return { ...answer, bodyAsText: await body.text() };
  } catch (error) {
    throw signal?.aborted
      ? newAbortError(error)
      : new RestError(messageOf(error), { code: RestError.REQUEST_SEND_ERROR });
  }
}

/** The SDK does not export its own headers, and those of the request can be cleared and filled. */
function headersOf(request: WebResource, received: Record<string, string | string[] | undefined>) {
  const headers = request.headers.clone();
  for (const name of headers.headerNames()) headers.remove(name);
  for (const [name, value] of Object.entries(received)) if (value !== undefined) headers.set(name, String(value));
  return headers;
}

function newAbortError(cause: unknown): Error {
  return Object.assign(new Error("the call was aborted", { cause }), { name: "AbortError" });
}

function messageOf(error: unknown): string {
  const { code, message } = error as { code?: string; message?: string };
  return message || code || String(error);
}
