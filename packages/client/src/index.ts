export { type BackoffLimits, isWorthRetrying, retryDelayMs } from "./backoff.ts";
export { type CallOptions, type Client, type ClientOptions, createClient } from "./client.ts";
export { ApiCallError, NetworkError } from "./errors.ts";
export { fetchTransport } from "./fetch-transport.ts";
export { parseFailure, parseJson } from "./parse-failure.ts";
export { type PartInPieces, type PieceRange, sendInPieces, type UploadWay } from "./send-in-pieces.ts";
export type { Transport, TransportRequest, TransportResponse } from "./transport.ts";
