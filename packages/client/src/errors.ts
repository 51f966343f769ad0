interface ApiFailureFacts {
  readonly status: number;
  readonly message: string;
  readonly code?: string;
  readonly requestId?: string;
  readonly details?: readonly { readonly path: string; readonly message: string }[];
  readonly retryAfterMs?: number;
}

/**
 * The far side answered, but not with success.
 * Without a `code` the answer is not one of our service: a proxy's, or that of a captive portal.
 */
export class ApiCallError extends Error {
  readonly status: number;
  /** One of `errorCodes` of the contract, or a newer one. */
  readonly code: string | undefined;
  readonly requestId: string | undefined;
  readonly details: readonly { readonly path: string; readonly message: string }[];
  /** How long the server asks to wait before the next try. */
  readonly retryAfterMs: number | undefined;

  constructor(facts: ApiFailureFacts) {
    super(facts.message);
    this.name = "ApiCallError";
    this.status = facts.status;
    this.code = facts.code;
    this.requestId = facts.requestId;
    this.details = facts.details ?? [];
    this.retryAfterMs = facts.retryAfterMs;
  }
}

/** There was no answer, or only a part of one: name resolution, connection, TLS, reset or timeout failed. `cause` is the reason. */
export class NetworkError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "NetworkError";
  }
}
