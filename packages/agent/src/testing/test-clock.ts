import { type Clock, systemClock } from "../system/clock.ts";

export interface StoppedClock extends Clock {
  /** The milliseconds that it shows as wall time, as monotonic time and since the start of the machine. A test adds to them. */
  atMs: number;
}

/** Makes a clock that stands still until the test moves it. */
export function createStoppedClock(atMs = 0): StoppedClock {
  const clock: StoppedClock = {
    atMs,
    nowNs: () => BigInt(clock.atMs) * 1_000_000n,
    monotonicMs: () => clock.atMs,
    uptimeMs: () => clock.atMs,
    random: () => 0.5,
  };
  return clock;
}

export interface RunningClock extends Clock {
  /** How far wall time is ahead of the machine's, as if the clock had been set. */
  skewNs: bigint;
  /** How far monotonic time and uptime are ahead of the machine's. A test that lets time pass adds to it. */
  aheadMs: number;
}

interface Given {
  readonly skewNs?: bigint;
  /** How many times as fast as the machine's monotonic time and uptime pass; 0 if only `aheadMs` moves one. */
  readonly pace?: { readonly monotonicMs?: number; readonly uptimeMs?: number };
}

/**
 * Makes a clock that runs with the machine's, for tests with files, processes or a cloud. With it, waits after failures are nearly as short
 * as chance can make them.
 */
export function createRunningClock({ skewNs = 0n, pace = {} }: Given = {}): RunningClock {
  const began = { monotonicMs: systemClock.monotonicMs(), uptimeMs: systemClock.uptimeMs() };
  const of = (dial: keyof typeof began) =>
    began[dial] + (systemClock[dial]() - began[dial]) * (pace[dial] ?? 1) + clock.aheadMs;
  const clock: RunningClock = {
    skewNs,
    aheadMs: 0,
    nowNs: () => systemClock.nowNs() + clock.skewNs,
    monotonicMs: () => of("monotonicMs"),
    uptimeMs: () => of("uptimeMs"),
    random: () => 0.05,
  };
  return clock;
}
