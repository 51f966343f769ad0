const SECOND_NS = 1_000_000_000n;
const DAY_SECONDS = 86_400;
/** After how many seconds an attempt follows the one before. spec: wire contract §6 */
const RETRY_SECONDS = [10, 60, 600, 3600, 6 * 3600] as const;
/** Receivers that were away together are not asked again together. */
const JITTER = 0.2;
/** A delivery is kept no longer than that. */
const LONGEST_WAIT_SECONDS = 30 * DAY_SECONDS;

export const RETRIES = RETRY_SECONDS.length;

interface Failed {
  /** How many attempts may follow. */
  readonly retriesLeft: number;
  readonly nowNs: bigint;
  /** The receiver wants nothing before. */
  readonly heldUntilNs: bigint;
  /** In [0, 1). */
  readonly random: number;
}

/** Returns when to try again; undefined: no attempt is left. */
export function nextAttemptNs({ retriesLeft, nowNs, heldUntilNs, random }: Failed): bigint | undefined {
  const seconds = RETRY_SECONDS[RETRIES - retriesLeft];
  if (seconds === undefined) return undefined;
  const laterNs = nowNs + BigInt(Math.round(seconds * (1 + JITTER * random) * 1e9));
  return heldUntilNs > laterNs ? heldUntilNs : laterNs;
}

/** Returns until when a `Retry-After` asks to wait: it is a number of seconds or a date. 0 if it says nothing. */
export function heldUntilNs(retryAfter: string | undefined, nowNs: bigint): bigint {
  const text = retryAfter?.trim() ?? "";
  const seconds = /^\d{1,12}$/.test(text) ? Number(text) : (Date.parse(text) - Number(nowNs / 1_000_000n)) / 1000;
  if (!(seconds > 0)) return 0n;
  return nowNs + BigInt(Math.ceil(Math.min(seconds, LONGEST_WAIT_SECONDS))) * SECOND_NS;
}
