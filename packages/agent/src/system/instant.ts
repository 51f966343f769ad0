import type { Clock } from "./clock.ts";

/** When something happened, by the machine's uptime: it cannot be set, so the age stays right. */
export interface Instant {
  readonly uptimeMs: number;
  /** The time that the wall clock showed. */
  readonly shownNs: bigint;
}

type Clocks = Pick<Clock, "nowNs" | "uptimeMs">;

const SECOND_NS = 1_000_000_000n;

export function noteInstant(clock: Clocks): Instant {
  return { uptimeMs: clock.uptimeMs(), shownNs: clock.nowNs() };
}

/**
 * Returns the instant in nanoseconds since the epoch, by the wall clock as it is set now: the age that anybody computes from it is right,
 * whatever the clock showed then. It differs from what the clock showed by whole seconds, so that it does not flicker.
 */
export function correctedNs({ uptimeMs, shownNs }: Instant, clock: Clocks): bigint {
  const agoNs = BigInt(Math.round((clock.uptimeMs() - uptimeMs) * 1e6));
  const offNs = clock.nowNs() - agoNs - shownNs;
  return shownNs + BigInt(Math.round(Number(offNs) / Number(SECOND_NS))) * SECOND_NS;
}
