/** Pages follow what happens by one waiting call of the whole browser, for which they share a lock. Browsers lock only where the connection is safe. */
export const canFollow = Boolean(globalThis.navigator?.locks) && typeof BroadcastChannel !== "undefined";

/** How often a page asks for what it also follows, in milliseconds. */
export const FOLLOWED_POLL_MS = canFollow ? 120_000 : 60_000;
