/** One HTTP request, fully encoded. */
export interface TransportRequest {
  readonly method: string;
  readonly url: string;
  /** The path as the contract writes it, with the parameters in braces. */
  readonly path?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
}

export interface TransportResponse {
  readonly status: number;
  /** The names are in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/**
 * Sends one request and reads the whole answer as text; any status is an answer. Does not follow redirects.
 * Throws the signal's reason once that is aborted, and {@link NetworkError} for anything the network did.
 */
export type Transport = (request: TransportRequest) => Promise<TransportResponse>;
