/** One HTTP request, fully encoded. */
export interface TransportRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
}

export interface TransportResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/**
 * Sends one request and reads the whole answer as text; any status is an answer. Does not follow redirects.
 * Throws the signal's reason once that is aborted, and {@link NetworkError} for anything the network did.
 */
export type Transport = (request: TransportRequest) => Promise<TransportResponse>;
