import type { Dispatcher } from "undici";
import { NetworkError } from "./errors.ts";
import { parseFailure } from "./parse-failure.ts";
import { request } from "./undici-request.ts";
import { asNetworkError, readAnswer } from "./undici-transport.ts";
import { watchForStall } from "./watch-for-stall.ts";

export interface GetOptions {
  readonly signal?: AbortSignal;
  /** The whole transfer may take any time; it is given up only after this time in which no byte comes. The default is 60 s. */
  readonly stallTimeoutMs?: number;
  /** Absent: the global one of undici is used. */
  readonly dispatcher?: Dispatcher;
}

/** An answer that is no success is short. */
const answerLimits = { bytes: 1024 * 1024, depth: 32, containers: 10_000 };

/**
 * Streams what a URL answers. Ends only with the last byte. Throws {@link ApiCallError} if the answer is no success, {@link NetworkError} for
 * network errors, for an answer that is cut and for a stall, and the signal's reason if that is aborted.
 */
export async function* getStream(url: string, options: GetOptions = {}): AsyncGenerator<Buffer> {
  const { signal, stallTimeoutMs = 60_000, dispatcher } = options;
  signal?.throwIfAborted();
  using stall = watchForStall(stallTimeoutMs);
  try {
    const answer = await request(url, {
      method: "GET",
      headers: { "accept-encoding": "identity" },
      signal: signal ? AbortSignal.any([signal, stall.signal]) : stall.signal,
      ...(dispatcher ? { dispatcher } : {}),
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    if (answer.statusCode !== 200) throw parseFailure(await readAnswer(answer, answerLimits));
    for await (const chunk of answer.body as AsyncIterable<Buffer>) {
      stall.pause(); // The reader of the bytes may be slow.
      yield chunk;
      stall.progress();
    }
  } catch (error) {
    signal?.throwIfAborted();
    if (stall.signal.aborted) throw new NetworkError(`no progress for ${stallTimeoutMs / 1000} s`, error);
    throw asNetworkError(error, { url, dispatcher });
  }
}
