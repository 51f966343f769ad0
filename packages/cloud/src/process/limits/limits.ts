import { turnLimits } from "./turns.ts";

export interface ConnectionLimits {
  /** The most connections of this process: one more is closed at once. */
  readonly most: number;
  /** The most connections of one address without any request yet, or without a valid token or link: of more, the oldest is closed. */
  readonly unprovenPerAddress: number;
  /** How long a connection may stay without a request, however many there are, because a fleet comes back all at once. */
  readonly unprovenMs: number;
  /** The time until the headers of a request must be whole, even of one that never begins. */
  readonly headersMs: number;
  readonly idleMs: number;
  /** How long an answer may wait without a byte being read. Downloads and exports have a rule of their own. */
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

/** How slowly a JSON body may arrive. Uploads are large and have a rule of their own, `calls/data-plane/request-body.ts`. */
export interface BodyPatience {
  /** The longest time without a byte. */
  readonly stallMs: number;
  readonly totalMs: number;
  /** The average pace that a body must have once `stallMs` have passed. */
  readonly leastBytesPerSecond: number;
}

export const bodyPatience: BodyPatience = { stallMs: 10_000, totalMs: 60_000, leastBytesPerSecond: 256 };

export interface RateLimits {
  /** How many calls of one token this process accepts. */
  readonly callsPerMinute: number;
  /** How many calls of one address may be refused for their token. Calls with a valid token are neither counted nor refused. */
  readonly failuresPerMinute: number;
}

export const rateLimits: RateLimits = { callsPerMinute: 60_000, failuresPerMinute: 6000 };

/** How much one process accepts, from whom, and how long it waits. `docs/reference/limits.md` lists each figure. */
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
