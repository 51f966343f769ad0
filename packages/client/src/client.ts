import {
  type CallInput,
  IDEMPOTENCY_HEADER,
  IGNORED_HEADER,
  type Operation,
  type Output,
  type WithHeaders,
} from "@downlink/protocol";
import { isWorthRetrying, retryDelayMs } from "./backoff.ts";
import { encodeRequest } from "./encode-request.ts";
import { ApiCallError, NetworkError } from "./errors.ts";
import { findFirstFault } from "./find-first-fault.ts";
import { describeForeignAnswer, parseFailure, parseJson } from "./parse-failure.ts";
import type { Transport, TransportRequest, TransportResponse } from "./transport.ts";

export interface ClientOptions {
  /** The scheme, the host and perhaps a path. `/v1/…` is appended to it. */
  readonly baseUrl: string;
  /** The bearer token. Absent if none is sent. */
  readonly token?: string;
  readonly transport: Transport;
  /**
   * How often a call is repeated after a failure that may pass. The default is 0. A call that makes something is sent with an
   * `Idempotency-Key`, so that a repeat makes nothing more. A call that changes something else is repeated only if the service refused it
   * (408, 429, 503): after a lost answer the client cannot know whether it took effect.
   */
  readonly retries?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Gets a sentence about names in a request that the service did not know and ignored. The default prints it as a warning. */
  readonly onIgnored?: (sentence: string) => void;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
  /** The time for one try with its answer. The default is 60 s. */
  readonly timeoutMs?: number;
  /** Gets the headers of each answer, whatever the answer says. Their names are in lower case. */
  readonly onHeaders?: (headers: ReadonlyMap<string, string>) => void;
}

export interface Client {
  /**
   * Performs any operation of the contract. Throws {@link ApiCallError} when the answer is no success,
   * {@link NetworkError} when there is none, the signal's reason when that is aborted.
   */
  call<O extends Operation>(operation: O, input: CallInput<O>, options?: CallOptions): Promise<Output<O>>;
  /** Performs an operation as `call` does, and also answers the headers that the operation declares, such as the cursors of a list. */
  callWithHeaders<O extends Operation>(
    operation: O,
    input: CallInput<O>,
    options?: CallOptions,
  ): Promise<WithHeaders<O>>;
}

const DEFAULT_TIMEOUT_MS = 60_000;

export function createClient(options: ClientOptions): Client {
  const baseUrl = options.baseUrl.replace(/\/+$/, "");
  const send = (operation: Operation, input: unknown, callOptions: CallOptions) => {
    const { method, target, body } = encodeRequest(operation, input as Record<string, unknown>);
    const headers = { ...onceHeaders(options, operation), ...headersOf(options, callOptions, body) };
    const request = { method, url: baseUrl + target, path: operation.path, headers, body };
    return sendWithRetries(options, request, callOptions).then((response) => {
      warnOfIgnored(options, request, response);
      return response;
    });
  };
  return {
    async call<O extends Operation>(operation: O, input: CallInput<O>, callOptions: CallOptions = {}) {
      return decodeResponse(operation, await send(operation, input, callOptions)) as Output<O>;
    },
    async callWithHeaders<O extends Operation>(operation: O, input: CallInput<O>, callOptions: CallOptions = {}) {
      const response = await send(operation, input, callOptions);
      const output = decodeResponse(operation, response);
      return { output, headers: declaredHeaders(operation, response) } as WithHeaders<O>;
    },
  };
}

/** A name that nothing reads is a mistake of the caller, or the service is older than its client. */
function warnOfIgnored(
  { onIgnored = console.warn }: ClientOptions,
  { method, path }: { readonly method: string; readonly path: string },
  { headers }: TransportResponse,
): void {
  const names = headers.get(IGNORED_HEADER);
  if (names) onIgnored(`${method} ${path}: the service does not know, and ignored: ${names}`);
}

/** The header is sent only if calls are repeated, because the service has to remember each. */
function onceHeaders({ retries = 0 }: ClientOptions, { makes }: Operation): Record<string, string> {
  return retries > 0 && typeof makes === "object" ? { [IDEMPOTENCY_HEADER]: randomKey() } : {};
}

/** `randomUUID` is not used, because browsers have it on pages of https only. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function headersOf(client: ClientOptions, call: CallOptions, body: string | undefined): Record<string, string> {
  return {
    accept: "application/json",
    ...(client.token === undefined ? {} : { authorization: `Bearer ${client.token}` }),
    ...(body === undefined ? {} : { "content-type": "application/json" }),
    ...client.headers,
    ...call.headers,
  };
}

async function sendWithRetries(
  { transport, retries = 0 }: ClientOptions,
  request: Omit<TransportRequest, "signal">,
  call: CallOptions,
): Promise<TransportResponse> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await sendOnce(transport, request, call);
    } catch (failure) {
      if (attempt > retries || !mayRepeat(request, failure)) throw failure;
      await wait(retryDelayMs(failure, attempt), call.signal);
    }
  }
}

function mayRepeat({ method, headers }: Omit<TransportRequest, "signal">, failure: unknown): boolean {
  if (failure instanceof ApiCallError) {
    const { status, code, retryAfterMs } = failure;
    const isRefused = [408, 429, 503].includes(status);
    if (isRefused || (code === "IdempotencyConflict" && retryAfterMs !== undefined)) return true;
  }
  return (method === "GET" || headers[IDEMPOTENCY_HEADER] !== undefined) && isWorthRetrying(failure);
}

async function sendOnce(
  transport: Transport,
  request: Omit<TransportRequest, "signal">,
  { signal, timeoutMs = DEFAULT_TIMEOUT_MS, onHeaders }: CallOptions,
): Promise<TransportResponse> {
  signal?.throwIfAborted();
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), timeoutMs); // `AbortSignal.timeout` would be kept in memory until it ends.
  try {
    const either = signal ? AbortSignal.any([signal, timeout.signal]) : timeout.signal;
    const response = await transport({ ...request, signal: either });
    onHeaders?.(response.headers);
    if (response.status >= 200 && response.status < 300) return response;
    throw parseFailure(response);
  } catch (error) {
    signal?.throwIfAborted();
    if (timeout.signal.aborted) throw new NetworkError(`no answer within ${timeoutMs / 1000} s`, error);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

function decodeResponse(operation: Operation, response: TransportResponse): unknown {
  if (!operation.response) return undefined;
  const parsed = parseJson(response.body);
  const fault = findFirstFault(operation.response, parsed);
  const decoded = fault ? undefined : operation.response.safeDecode(parsed as never);
  if (decoded?.success) return decoded.data;
  const isJson = response.headers.get("content-type")?.includes("json");
  const problem = fault ?? decoded?.error.issues[0];
  throw new ApiCallError({
    status: response.status,
    requestId: response.headers.get("x-request-id"),
    message: isJson
      ? `the answer does not follow the contract at ${problem?.path.join(".") || "its root"}: ${problem?.message}`
      : describeForeignAnswer(response),
  });
}

function declaredHeaders({ responseHeaders }: Operation, { headers }: TransportResponse): Record<string, string> {
  const names = Object.keys(responseHeaders?.shape ?? {});
  return Object.fromEntries(names.flatMap((name) => (headers.has(name) ? [[name, headers.get(name)!]] : [])));
}

async function wait(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, delayMs);
  const onAbort = () => resolve();
  signal?.addEventListener("abort", onAbort);
  await promise;
  clearTimeout(timer);
  signal?.removeEventListener("abort", onAbort);
  signal?.throwIfAborted();
}
