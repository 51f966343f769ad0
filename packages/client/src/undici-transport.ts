import type { Dispatcher } from "undici";
import { ApiFailure, NetworkFailure } from "./errors.ts";
import type { Transport, TransportResponse } from "./transport.ts";
import { request } from "./undici-request.ts";
import { RoutedAgent, type WayOut } from "./way-out.ts";

/** A {@link Transport} with its own kept-alive connections, for long-running programs. Close it with `await using`. */
export interface UndiciTransport extends Transport, AsyncDisposable {
  readonly dispatcher: Dispatcher;
}

const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

export function undiciTransport(way?: WayOut): UndiciTransport {
  const dispatcher = new RoutedAgent(way);
  const send: Transport = async ({ url, method, signal, ...options }) => {
    try {
      const unhurried = { headersTimeout: 0, bodyTimeout: 0 };
      return await readAnswer(
        await request(url, { ...options, ...unhurried, method: method as Dispatcher.HttpMethod, signal, dispatcher }),
      );
    } catch (error) {
      signal.throwIfAborted();
      throw asNetworkFailure(error, { url, dispatcher });
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
export function asNetworkFailure(
  error: unknown,
  { url, dispatcher }: { url: string; dispatcher: Dispatcher | undefined },
): unknown {
  if (!(error instanceof Error) || error instanceof NetworkFailure || error instanceof ApiFailure) return error;
  const proxy = dispatcher instanceof RoutedAgent ? dispatcher.proxyShownFor(url) : undefined;
  const refusal = proxy && refusalOfProxy(error);
  if (refusal) return new NetworkFailure(`the proxy ${proxy} ${refusal}`, new ProxyRefusal(refusal));
  const { code, reason } = error as NodeJS.ErrnoException & { readonly reason?: string };
  if (typeof code !== "string" || code === "UND_ERR_INVALID_ARG" || code === "ERR_INVALID_URL") return error;
  // OpenSSL's own message is a line of addresses and paths around the reason.
  const detail = reason && code.startsWith("ERR_SSL_") ? `TLS: ${reason}` : error.message || code;
  const through = proxy ? ` through the proxy ${proxy}` : "";
  return new NetworkFailure(`cannot reach ${new URL(url).host}${through}: ${detail}`, error);
}

/** The proxy answered, and will not let the request pass. */
export class ProxyRefusal extends Error {
  readonly code = "ERR_PROXY_REFUSED";

  constructor(message: string) {
    super(message);
    this.name = "ProxyRefusal";
  }
}

/** undici tells of a proxy's answer in words only. */
function refusalOfProxy({ message }: Error): string | undefined {
  if (message.includes("Proxy Authentication Required")) return "asks for a user and a password (407)";
  const status = /^Proxy response \((\d+)\)/.exec(message)?.[1];
  if (status === undefined) return undefined;
  return status === "407" ? "asks for a user and a password (407)" : `refuses the connection (${status})`;
}
