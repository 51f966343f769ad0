import type { Clock } from "./clock.ts";

/** When something happened, by the machine's uptime: nobody sets that, and how long ago it was stays true. */
export interface Instant {
  readonly uptimeMs: number;
  /** What the wall clock showed. */
  readonly shownNs: bigint;
}

type Clocks = Pick<Clock, "nowNs" | "uptimeMs">;

const SECOND_NS = 1_000_000_000n;

export function noteInstant(clock: Clocks): Instant {
  return { uptimeMs: clock.uptimeMs(), shownNs: clock.nowNs() };
}

/**
 * The instant by the wall clock as it is set at this moment, nanoseconds since the epoch: the age that anybody computes from
 * it is right, whatever the clock showed then. In whole seconds from what it showed, so that it does not flicker.
 */
export function correctedNs({ uptimeMs, shownNs }: Instant, clock: Clocks): bigint {
  const agoNs = BigInt(Math.round((clock.uptimeMs() - uptimeMs) * 1e6));
  const offNs = clock.nowNs() - agoNs - shownNs;
  return shownNs + BigInt(Math.round(Number(offNs) / Number(SECOND_NS))) * SECOND_NS;
}
