/** The pages of a browser share one waiting call for changes, by a lock. Browsers give locks only on a secure connection. */
export const canFollow = Boolean(globalThis.navigator?.locks) && typeof BroadcastChannel !== "undefined";

/** How often a page asks for data that it also follows, in milliseconds. */
export const FOLLOWED_POLL_MS = canFollow ? 120_000 : 60_000;
