export { type BackoffLimits, isWorthRetrying, retryDelayMs } from "./backoff.ts";
export { type CallOptions, type Client, type ClientOptions, createClient } from "./client.ts";
export { ApiFailure, NetworkFailure } from "./errors.ts";
export { fetchTransport } from "./fetch-transport.ts";
export type { Transport, TransportRequest, TransportResponse } from "./transport.ts";
