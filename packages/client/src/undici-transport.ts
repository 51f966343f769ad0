import { setImmediate as untilIdle } from "node:timers/promises";
import { createJsonGuard, type JsonLimits } from "@downlink/protocol";
import type { Dispatcher } from "undici";
import { ApiCallError, NetworkError } from "./errors.ts";
import type { Transport, TransportResponse } from "./transport.ts";
import { request } from "./undici-request.ts";
import { RoutedAgent, type WayOut } from "./way-out.ts";

/** A {@link Transport} with its own kept-alive connections, for long-running programs. Close it with `await using`. */
export interface UndiciTransport extends Transport, AsyncDisposable {
  readonly dispatcher: Dispatcher;
}

/** The limits are for programs that list all data of an organization; a program with little memory sets its own. */
const defaultLimits: JsonLimits = { bytes: 64 * 1024 * 1024, depth: 500, containers: 2_000_000 };
/** Which compression a transport understands, sent to every server: none, because a few compressed bytes could become any number. */
const plain = { "accept-encoding": "identity" };

export interface TransportOptions {
  readonly way?: WayOut | undefined;
  readonly limits?: JsonLimits;
}

export function undiciTransport({ way, limits = defaultLimits }: TransportOptions = {}): UndiciTransport {
  const dispatcher = new RoutedAgent(way);
  const send: Transport = async ({ url, method, signal, headers: given, body }) => {
    const headers = { ...plain, ...given };
    try {
      const unhurried = { headersTimeout: 0, bodyTimeout: 0 };
      const sent = { headers, body, ...unhurried, method: method as Dispatcher.HttpMethod, signal, dispatcher };
      const answer = await readAnswer(await request(url, sent), limits);
      await untilIdle(); // until then the pool takes the connection for busy, and would give another one to a caller that calls again at once
      return answer;
    } catch (error) {
      signal.throwIfAborted();
      throw asNetworkError(error, { url, dispatcher });
    }
  };
  return Object.assign(send, { dispatcher, [Symbol.asyncDispose]: () => dispatcher.destroy() });
}

/** Reads an answer to its end, in bounded memory. Throws an {@link ApiCallError} without a code for one beyond the limits. */
export async function readAnswer(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  limits = defaultLimits,
): Promise<TransportResponse> {
  const guard = createJsonGuard(limits);
  const chunks: Buffer[] = [];
  const encoding = [headers["content-encoding"] ?? "identity"].flat().join();
  for await (const chunk of body as AsyncIterable<Buffer>) {
    const excess = encoding === "identity" ? guard.take(chunk) : `is encoded as ${encoding}, which nobody asked for`;
    // Leaving the loop ends the connection: the rest is not even received.
    if (excess !== undefined) throw new ApiCallError({ status: statusCode, message: `the answer ${excess}` });
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

/** The errors of undici, the resolver, the socket and TLS all have a code; any other error is a bug of the program. */
export function asNetworkError(
  error: unknown,
  { url, dispatcher }: { url: string; dispatcher: Dispatcher | undefined },
): unknown {
  if (!(error instanceof Error) || error instanceof NetworkError || error instanceof ApiCallError) return error;
  const proxy = dispatcher instanceof RoutedAgent ? dispatcher.proxyShownFor(url) : undefined;
  const refusal = proxy && refusalOfProxy(error);
  if (refusal) return new NetworkError(`the proxy ${proxy} ${refusal}`, new ProxyRefusedError(refusal));
  const { code, reason } = error as NodeJS.ErrnoException & { readonly reason?: string };
  if (typeof code !== "string" || code === "UND_ERR_INVALID_ARG" || code === "ERR_INVALID_URL") return error;
  // OpenSSL's own message is a line of addresses and paths around the reason.
  const detail = reason && code.startsWith("ERR_SSL_") ? `TLS: ${reason}` : error.message || code;
  const through = proxy ? ` through the proxy ${proxy}` : "";
  return new NetworkError(`cannot reach ${new URL(url).host}${through}: ${detail}`, error);
}

/** The proxy answered, and refuses to forward the request. */
export class ProxyRefusedError extends Error {
  readonly code = "ERR_PROXY_REFUSED";

  constructor(message: string) {
    super(message);
    this.name = "ProxyRefusedError";
  }
}

/** undici reports a proxy's answer only as a text. */
function refusalOfProxy({ message }: Error): string | undefined {
  if (message.includes("Proxy Authentication Required")) return "asks for a user and a password (407)";
  const status = /^Proxy response \((\d+)\)/.exec(message)?.[1];
  if (status === undefined) return undefined;
  return status === "407" ? "asks for a user and a password (407)" : `refuses the connection (${status})`;
}
