/** Wall time is only ever shown or sent; whatever is measured or awaited uses the monotonic one, which nobody can set. */
export interface Clock {
  /** Nanoseconds since the epoch. */
  nowNs(): bigint;
  /** Milliseconds since some instant. */
  monotonicMs(): number;
  /** In [0, 1): what waits are spread by, so that many agents do not act at once. */
  random(): number;
}

export const systemClock: Clock = {
  nowNs: () => BigInt(Date.now()) * 1_000_000n,
  monotonicMs: () => performance.now(),
  random: Math.random,
};
