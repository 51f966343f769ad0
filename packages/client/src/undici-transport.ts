import type { Dispatcher } from "undici";
import { ApiFailure, NetworkFailure } from "./errors.ts";
import type { Transport, TransportResponse } from "./transport.ts";
import { Agent, request } from "./undici-request.ts";

/** A {@link Transport} with its own kept-alive connections, for long-running programs. Close it with `await using`. */
export interface UndiciTransport extends Transport, AsyncDisposable {
  readonly dispatcher: Dispatcher;
}

const CONNECT_TIMEOUT_MS = 15_000;
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

export function undiciTransport(): UndiciTransport {
  // How long an answer may take is the caller's decision, made by the signal.
  const dispatcher = new Agent({ connect: { timeout: CONNECT_TIMEOUT_MS }, headersTimeout: 0, bodyTimeout: 0 });
  const send: Transport = async ({ url, method, signal, ...options }) => {
    try {
      return await readAnswer(
        await request(url, { ...options, method: method as Dispatcher.HttpMethod, signal, dispatcher }),
      );
    } catch (error) {
      signal.throwIfAborted();
      throw asNetworkFailure(error, url);
    }
  };
  return Object.assign(send, { dispatcher, [Symbol.asyncDispose]: () => dispatcher.destroy() });
}

/** Reads an answer to its end, in bounded memory. */
export async function readAnswer({ statusCode, headers, body }: Dispatcher.ResponseData): Promise<TransportResponse> {
  const chunks: Buffer[] = [];
  let receivedBytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    receivedBytes += chunk.length;
    if (receivedBytes > MAX_ANSWER_BYTES)
      throw new NetworkFailure(`the answer is longer than ${MAX_ANSWER_BYTES} bytes`);
    chunks.push(chunk);
  }
  return { status: statusCode, headers: flattenHeaders(headers), body: Buffer.concat(chunks).toString("utf8") };
}

function flattenHeaders(headers: Dispatcher.ResponseData["headers"]): Map<string, string> {
  const flat = new Map<string, string>();
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat.set(name.toLowerCase(), [value].flat().join(", "));
  }
  return flat;
}

/** What undici, the resolver, the socket and TLS throw all carries a code; anything else is a fault of the program. */
export function asNetworkFailure(error: unknown, url: string): unknown {
  if (!(error instanceof Error) || error instanceof NetworkFailure || error instanceof ApiFailure) return error;
  const { code, reason } = error as NodeJS.ErrnoException & { readonly reason?: string };
  if (typeof code !== "string" || code === "UND_ERR_INVALID_ARG" || code === "ERR_INVALID_URL") return error;
  // OpenSSL's own message is a line of addresses and paths around the reason.
  const detail = reason && code.startsWith("ERR_SSL_") ? `TLS: ${reason}` : error.message || code;
  return new NetworkFailure(`cannot reach ${new URL(url).host}: ${detail}`, error);
}
