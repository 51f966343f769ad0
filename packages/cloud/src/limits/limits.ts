import { turnLimits } from "./turns.ts";

export interface ConnectionLimits {
  /** Of all together: one more is closed at once. */
  readonly most: number;
  /** Of one address, without a request, as long as no valid token or link came by them: of more, the oldest is closed. */
  readonly unprovenPerAddress: number;
  /** So long a connection may take to its first request, however many there are: a fleet comes back all at once. */
  readonly unprovenMs: number;
  /** Until the headers of a request are whole, also of one that never begins. */
  readonly headersMs: number;
  readonly idleMs: number;
  /** Without one byte being read of an answer that waits. Downloads and exports have a rule of their own. */
  readonly unreadMs: number;
}

export const connectionLimits: ConnectionLimits = {
  most: 20_000,
  unprovenPerAddress: 256,
  unprovenMs: 2000,
  headersMs: 20_000,
  idleMs: 75_000,
  unreadMs: 60_000,
};

/** How slowly a JSON body may come. Uploads are large and have a rule of their own, `data-plane/request-body.ts`. */
export interface BodyPatience {
  /** Without one byte. */
  readonly stallMs: number;
  readonly totalMs: number;
  /** On average, once `stallMs` have passed. */
  readonly leastBytesPerSecond: number;
}

export const bodyPatience: BodyPatience = { stallMs: 10_000, totalMs: 60_000, leastBytesPerSecond: 256 };

export interface RateLimits {
  /** Of one token, in this process. */
  readonly callsPerMinute: number;
  /** Calls of one address that are refused for their token. Those with a valid one are not counted and not refused. */
  readonly failuresPerMinute: number;
}

export const rateLimits: RateLimits = { callsPerMinute: 60_000, failuresPerMinute: 6000 };

/** How much one process takes, from whom, and how long it waits. Each figure stands in the README. */
export interface Limits {
  readonly connections: ConnectionLimits;
  readonly body: BodyPatience;
  readonly rates: RateLimits;
  readonly turns: typeof turnLimits;
}

export const defaultLimits: Limits = {
  connections: connectionLimits,
  body: bodyPatience,
  rates: rateLimits,
  turns: turnLimits,
};
