import { NetworkError } from "./errors.ts";
import type { Transport } from "./transport.ts";

/** Sends by the platform's `fetch`, for browsers and short programs. */
export function fetchTransport(send: typeof fetch = fetch): Transport {
  return async ({ url, signal, ...request }) => {
    try {
      const response = await send(url, { ...request, signal, redirect: "manual" });
      return { status: response.status, headers: new Map(response.headers), body: await response.text() };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof TypeError)
        throw new NetworkError(`cannot reach ${new URL(url).host}: ${error.message}`, error);
      throw error;
    }
  };
}
