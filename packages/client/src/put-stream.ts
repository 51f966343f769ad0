import { Readable } from "node:stream";
import type { Dispatcher } from "undici";
import { NetworkError } from "./errors.ts";
import { parseFailure } from "./parse-failure.ts";
import { request } from "./undici-request.ts";
import { asNetworkError, readAnswer } from "./undici-transport.ts";
import { type StallWatch, watchForStall } from "./watch-for-stall.ts";

export interface PutOptions {
  readonly body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
  /** The length in bytes; absent: the body is sent chunked. */
  readonly length?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Called with the number of bytes that were passed to the network since the last call. */
  readonly onProgress?: (bytes: number) => void;
  /** The whole transfer may take any time; it is given up only after this time without any progress. The default is 60 s. */
  readonly stallTimeoutMs?: number;
  /** Absent: the global one of undici is used. */
  readonly dispatcher?: Dispatcher;
}

export interface PutResult {
  readonly status: number;
  /** The names are in lower case. */
  readonly headers: ReadonlyMap<string, string>;
}

/** An answer to a body is short. */
const answerLimits = { bytes: 1024 * 1024, depth: 32, containers: 10_000 };
/** How much the kernel may buffer of the bytes that we passed on, and the slowest link that must still work. */
const SOCKET_BUFFER_BYTES = 4 * 1024 * 1024;
const SLOWEST_BYTES_PER_MS = 32;

/**
 * Streams a body to a URL. Throws {@link ApiCallError} if the answer is no success, {@link NetworkError} for network errors and for a
 * stall, the signal's reason if that is aborted, and what reading `body` throws.
 */
export async function putStream(url: string, options: PutOptions): Promise<PutResult> {
  const { signal, stallTimeoutMs = 60_000 } = options;
  signal?.throwIfAborted();
  using stall = watchForStall(stallTimeoutMs);
  const meter = meterBody(options, stall);
  try {
    const answer = await readAnswer(
      await request(url, {
        method: "PUT",
        body: Readable.from(meter.chunks(), { objectMode: false }),
        headers: headersOf(options),
        signal: signal ? AbortSignal.any([signal, stall.signal]) : stall.signal,
        dispatcher: options.dispatcher,
        headersTimeout: 0,
        bodyTimeout: 0,
      }),
      answerLimits,
    );
    if (answer.status >= 200 && answer.status < 300) return { status: answer.status, headers: answer.headers };
    throw parseFailure(answer);
  } catch (error) {
    signal?.throwIfAborted();
    if (meter.bodyError !== undefined) throw meter.bodyError;
    if (stall.signal.aborted) throw new NetworkError(`no progress for ${stallTimeoutMs / 1000} s`, error);
    throw asNetworkError(error, { url, dispatcher: options.dispatcher });
  }
}

function headersOf({ length, headers }: PutOptions): Record<string, string> {
  return {
    "content-type": "application/octet-stream",
    ...(length === undefined ? {} : { "content-length": String(length) }),
    ...headers,
  };
}

/** Passes the body on as fast as the connection takes it, and reports each chunk that was taken. */
function meterBody({ body, onProgress }: PutOptions, stall: StallWatch) {
  const meter = { chunks, bodyError: undefined as unknown };
  async function* chunks() {
    let sentBytes = 0;
    try {
      for await (const chunk of body) {
        yield chunk;
        sentBytes += chunk.byteLength;
        stall.progress();
        onProgress?.(chunk.byteLength);
      }
    } catch (error) {
      meter.bodyError = error;
      throw error;
    }
    // From here on there is no sign of progress, while the kernel still sends what it has buffered.
    stall.progress(Math.min(sentBytes, SOCKET_BUFFER_BYTES) / SLOWEST_BYTES_PER_MS);
  }
  return meter;
}
