import type { Clock } from "../core/clock.ts";

export interface RunningClock extends Clock {
  /** How far this clock is ahead of the machine's. A test that lets time pass adds to it. */
  aheadNs: bigint;
}

/** Makes a clock that runs with the machine's, for tests in which Postgres or timers go on meanwhile. */
export function createRunningClock(): RunningClock {
  const clock: RunningClock = { aheadNs: 0n, nowNs: () => BigInt(Date.now()) * 1_000_000n + clock.aheadNs };
  return clock;
}

export interface StoppedClock extends Clock {
  /** The time in nanoseconds since the epoch, which the test sets. */
  atNs: bigint;
}

/** Makes a clock that stands still until the test sets it. With `stepNs` each reading is later than the one before by so much. */
export function createStoppedClock(atNs: bigint, { stepNs = 0n }: { readonly stepNs?: bigint } = {}): StoppedClock {
  const clock: StoppedClock = { atNs, nowNs: () => (clock.atNs += stepNs) };
  return clock;
}
