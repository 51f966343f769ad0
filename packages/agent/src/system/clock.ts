import { uptime } from "node:os";

/** Wall time is only ever shown or sent; whatever is measured or awaited uses the monotonic time, which cannot be set. */
export interface Clock {
  /** Nanoseconds since the epoch. */
  nowNs(): bigint;
  /** Milliseconds since some instant. */
  monotonicMs(): number;
  /** Milliseconds since the machine was started, with the time that it slept; they cannot be set. */
  uptimeMs(): number;
  /** In [0, 1). Waits are spread by it, so that many agents do not act at once. */
  random(): number;
}

export const systemClock: Clock = {
  nowNs: () => BigInt(Date.now()) * 1_000_000n,
  monotonicMs: () => performance.now(),
  uptimeMs: () => uptime() * 1000,
  random: Math.random,
};
