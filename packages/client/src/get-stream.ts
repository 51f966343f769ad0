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
  /** Streams the rest from this byte on. Only a link that serves ranges can. */
  readonly from?: ResumePoint;
}

export interface ResumePoint {
  readonly offset: number;
  /** The strong tag of the bytes that came before, without quotes. */
  readonly etag: string;
}

/** An answer that is no success is short. */
const answerLimits = { bytes: 1024 * 1024, depth: 32, containers: 10_000 };

/**
 * Streams what a URL answers. Ends only with the last byte. Throws {@link ApiCallError} if the answer is no success, {@link NetworkError} for
 * network errors, for an answer that is cut and for a stall, {@link OtherBytesError} where there are others than those that came before, and the
 * signal's reason if that is aborted.
 */
export async function* getStream(url: string, options: GetOptions = {}): AsyncGenerator<Buffer> {
  const { signal, stallTimeoutMs = 60_000, dispatcher, from } = options;
  signal?.throwIfAborted();
  using stall = watchForStall(stallTimeoutMs);
  try {
    const answer = await request(url, {
      method: "GET",
      headers: { "accept-encoding": "identity", ...(from && rangeHeaders(from)) },
      signal: signal ? AbortSignal.any([signal, stall.signal]) : stall.signal,
      ...(dispatcher ? { dispatcher } : {}),
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    if (from && answer.statusCode === 200) throw new OtherBytesError();
    if (answer.statusCode !== (from ? 206 : 200)) throw parseFailure(await readAnswer(answer, answerLimits));
    for await (const chunk of answer.body as AsyncIterable<Buffer>) {
      stall.pause(); // The reader of the bytes may be slow.
      yield chunk;
      stall.progress();
    }
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof OtherBytesError) throw error;
    if (stall.signal.aborted) throw new NetworkError(`no progress for ${stallTimeoutMs / 1000} s`, error);
    throw asNetworkError(error, { url, dispatcher });
  }
}

/** The link has other bytes than those of which a part came. */
export class OtherBytesError extends Error {
  constructor() {
    super("the file was replaced while it was fetched");
    this.name = "OtherBytesError";
  }
}

function rangeHeaders({ offset, etag }: ResumePoint): Record<string, string> {
  return { range: `bytes=${offset}-`, "if-range": `"${etag}"` };
}
