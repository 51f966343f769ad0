/** Wall time is only ever shown or sent; whatever is measured or awaited uses the monotonic one, which nobody can set. */
export interface Clock {
  /** Nanoseconds since the epoch. */
  nowNs(): bigint;
  /** Milliseconds since some instant. */
  monotonicMs(): number;
}

export const systemClock: Clock = {
  nowNs: () => BigInt(Date.now()) * 1_000_000n,
  monotonicMs: () => performance.now(),
};
