import { turnLimits } from "./turns.ts";

export interface ConnectionLimits {
  /** The most connections of this process: one more is closed at once. */
  readonly most: number;
  /** Connections of one address by which no request and no valid token or link came: of more, the oldest is closed. */
  readonly unprovenPerAddress: number;
  /** A connection may take so long to its first request, however many there are: a fleet comes back all at once. */
  readonly unprovenMs: number;
  /** The time until the headers of a request are whole, also of one that never begins. */
  readonly headersMs: number;
  readonly idleMs: number;
  /** An answer may wait so long without one byte being read. Downloads and exports have a rule of their own. */
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
  /** The time without one byte. */
  readonly stallMs: number;
  readonly totalMs: number;
  /** The average pace that a body must have once `stallMs` have passed. */
  readonly leastBytesPerSecond: number;
}

export const bodyPatience: BodyPatience = { stallMs: 10_000, totalMs: 60_000, leastBytesPerSecond: 256 };

export interface RateLimits {
  /** The calls of one token that this process takes. */
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
